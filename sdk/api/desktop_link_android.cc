#include <sys/prctl.h>
#include <sys/system_properties.h>

#include <string>

#include "base/file.h"
#include "base/last_error.h"
#include "sdk/api/desktop_link.h"

// Counts the changes of all properties (tracer/atrace/property_source_android.cc).
extern "C" uint32_t __system_property_area_serial() __attribute__((weak));

namespace jankbox {
namespace {

std::string ProcessName() {
  const std::string all = ReadProcFile("/proc/self/cmdline", 4096);
  return all.substr(0, all.find('\0'));
}

void Read(const std::string& name, PropertyValues* values) {
  char value[PROP_VALUE_MAX] = "";
  const int length = __system_property_get(name.c_str(), value);
  if (length > 0) values->Set(name, {value, static_cast<size_t>(length)});
}

PropertyValues ReadProperties() {
  PropertyValues values;
  Read(std::string(kDesktopAppProperty), &values);
  Read(std::string(kDesktopSnapshotProperty), &values);
  for (const OptionRow& row : OptionRows()) {
    if (row.IsForDeveloper()) Read(DesktopProperty(row), &values);
  }
  return values;
}

// One start at a time in a process, one watcher: no lock.
struct Followed {
  std::optional<DesktopRequests> requests;
  uint32_t serial = 0;
};

}  // namespace

// Set by the zygote where the manifest says debuggable, or profileable from the shell.
bool DesktopMayAsk() { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1; }

Result<Options> OptionsOfAllChannels(const jankbox_options* fields) {
  OptionLayers layers;
  if (DesktopMayAsk()) TakeDesktopOptions(ReadProperties(), ProcessName(), &layers);
  layers.TakeEnvironment();
  if (!layers.ignored.empty()) SetLastError(layers.ignored);
  return ValidateOptions(fields, layers);
}

std::optional<DesktopAsk> PollDesktop(bool first) {
  static auto* followed = new Followed();
  if (first) followed->requests.reset();
  if (!DesktopMayAsk()) return std::nullopt;
  if (__system_property_area_serial != nullptr) {
    const uint32_t serial = __system_property_area_serial();
    if (followed->requests && serial == followed->serial) return std::nullopt;
    followed->serial = serial;
  }
  const PropertyValues now = ReadProperties();
  if (followed->requests) return followed->requests->Poll(now);
  followed->requests.emplace(ProcessName(), now);
  return std::nullopt;
}

}  // namespace jankbox

#include <sys/system_properties.h>

#include <utility>

#include "tracer/atrace/property_source.h"

// Counts the changes of all properties. Exported from Android 7 on, declared by none of the NDK's
// headers.
extern "C" uint32_t __system_property_area_serial() __attribute__((weak));

namespace jankbox {
namespace {

void Read(std::string_view name, PropertyValues* values) {
  char value[PROP_VALUE_MAX] = "";
  const int length = __system_property_get(std::string(name).c_str(), value);
  if (length > 0) values->Set(name, {value, static_cast<size_t>(length)});
}

}  // namespace

PropertySource::PropertySource(std::string path) : path_(std::move(path)) {}

bool PropertySource::LibraryReadsThem() { return true; }

// The watcher wakes often enough to look at the serial, which is one load: waiting for it
// (__system_property_wait, Android 8) would take a thread and say the same.
Result<bool> PropertySource::Refresh() {
  if (__system_property_area_serial != nullptr) {
    const uint32_t serial = __system_property_area_serial();
    if (serial == serial_) return false;
    serial_ = serial;
  }
  PropertyValues now;
  for (const std::string_view name :
       {kEnableFlagsProperty, kAppNumberProperty, kDebuggableProperty}) {
    Read(name, &now);
  }
  const int32_t count = AtraceAppCount(now);
  for (int32_t i = 0; i < count; ++i) Read(AtraceAppProperty(i), &now);
  const bool changed = now != values_;
  values_ = std::move(now);
  return changed;
}

}  // namespace jankbox

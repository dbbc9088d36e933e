#include <android/log.h>
#include <sys/system_properties.h>

#include <cstring>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"

namespace jankbox {
namespace {

using Sink = std::function<void(std::string_view)>;

// Leaked on purpose: threads may log while static destructors run.
Sink& HostSink() {
  static auto* sink = new Sink();
  return *sink;
}

// Read once: the property is set before the app starts, as that of every debug build is.
int ReadLeastPriority() {
  constexpr std::pair<const char*, int> kLevels[] = {
      {"trace", ANDROID_LOG_VERBOSE}, {"debug", ANDROID_LOG_DEBUG}, {"info", ANDROID_LOG_INFO},
      {"warn", ANDROID_LOG_WARN},     {"error", ANDROID_LOG_ERROR}, {"off", ANDROID_LOG_SILENT},
  };
  char value[PROP_VALUE_MAX] = "";
  if (__system_property_get("debug.jankbox.log", value) <= 0) return ANDROID_LOG_WARN;
  for (const auto& [name, priority] : kLevels) {
    if (strcmp(name, value) == 0) return priority;
  }
  return ANDROID_LOG_WARN;
}

void Write(int priority, std::string_view message) {
  const int least_priority = MakeOnce([] { return new const int(ReadLeastPriority()); });
  if (priority < least_priority) return;
  const Sink& sink = HostSink();
  if (sink) {
    sink(message);
  } else {
    __android_log_write(priority, "jankbox", std::string(message).c_str());
  }
}

}  // namespace

void LogWarning(std::string_view message) { Write(ANDROID_LOG_WARN, message); }

void LogInfo(std::string_view message) { Write(ANDROID_LOG_INFO, message); }

void SetLogSink(Sink sink) { HostSink() = std::move(sink); }

}  // namespace jankbox

// Jankbox's own log: through spdlog to stderr on Linux, to logcat with the tag "jankbox" on
// Android. Silent below warning unless JANKBOX_LOG (on Android the property debug.jankbox.log) says
// trace, debug, info, warn, error or off. THREAD-SAFE, may allocate and block: never called on an
// app's thread after start.
#ifndef JANKBOX_BASE_LOG_H_
#define JANKBOX_BASE_LOG_H_

#include <functional>
#include <string_view>

namespace jankbox {

// One line. What runs inside an app puts its texts together itself: spdlog's formatting would add
// 60 KiB to every app. Programs may use base/logger.h.
void LogWarning(std::string_view message);
void LogInfo(std::string_view message);

// Sends every line that is not silent to `sink` instead (agent: to `jankbox run`). Null restores
// the usual place. Call before other threads log.
void SetLogSink(std::function<void(std::string_view)> sink);

}  // namespace jankbox

#endif  // JANKBOX_BASE_LOG_H_

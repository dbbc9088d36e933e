// Jankbox's own log, through spdlog. Silent below warning unless JANKBOX_LOG (trace, debug, info,
// warn, error, off) says otherwise; goes to stderr, or to the sink that the host set. THREAD-SAFE,
// may allocate and block: never called on an app's thread after start.
#ifndef JANKBOX_BASE_LOG_H_
#define JANKBOX_BASE_LOG_H_

#include <spdlog/spdlog.h>

#include <functional>
#include <string_view>

namespace jankbox {

// The process-wide logger "jankbox". Lives until the process ends.
spdlog::logger& Log();

// One line. What runs inside an app uses these and puts its texts together itself: spdlog's
// formatting would add 60 KiB to every app.
void LogWarning(std::string_view message);
void LogInfo(std::string_view message);

// Sends every line of level warn and above to `sink` instead of stderr (agent: to `jankbox run`).
// Null restores stderr. Call before other threads log.
void SetLogSink(std::function<void(spdlog::level::level_enum, std::string_view)> sink);

}  // namespace jankbox

#endif  // JANKBOX_BASE_LOG_H_

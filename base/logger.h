// The logger that base/log.h uses. Programs may use it directly, with spdlog's formatting. Linux
// only. THREAD-SAFE.
#ifndef JANKBOX_BASE_LOGGER_H_
#define JANKBOX_BASE_LOGGER_H_

#include <spdlog/spdlog.h>

namespace jankbox {

// The process-wide logger "jankbox". Lives until the process ends.
spdlog::logger& Log();

}  // namespace jankbox

#endif  // JANKBOX_BASE_LOGGER_H_

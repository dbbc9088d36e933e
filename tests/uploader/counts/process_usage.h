// The usage of a recording to count.
#ifndef JANKBOX_TESTS_UPLOADER_COUNTS_PROCESS_USAGE_H_
#define JANKBOX_TESTS_UPLOADER_COUNTS_PROCESS_USAGE_H_

#include <string>

#include "base/uuid.h"
#include "uploader/counts/usage.h"

namespace jankbox {

inline constexpr uint32_t kDay = 20'500;

// So far, of a recording of its own: two sessions and three frames for each message.
inline ProcessUsage Used(uint64_t messages, const std::string& id = NewUuid(1), uint32_t day = kDay,
                         const std::string& version = "1.0") {
  ProcessUsage usage;
  usage.id = id;
  usage.total.day = day;
  usage.total.app = "Gallery";
  usage.total.version = version;
  usage.total.foreground_ms = 100 * messages;
  usage.total.sessions = 2 * messages;
  usage.total.frames = 3 * messages;
  usage.total.messages = messages;
  return usage;
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_UPLOADER_COUNTS_PROCESS_USAGE_H_

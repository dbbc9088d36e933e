// The Retry-After header (RFC 9110, 10.2.3). Untrusted input. Pure; threads: any; no allocation.
#ifndef JANKBOX_UPLOADER_POLICY_RETRY_AFTER_H_
#define JANKBOX_UPLOADER_POLICY_RETRY_AFTER_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace jankbox {

// No server keeps a report waiting for longer.
inline constexpr uint64_t kMaxRetryAfterS = 86'400;

// Seconds to wait: a number, or any of HTTP's three date formats against `now_s` (seconds since
// 1970, UTC; a date in the past is 0). At most kMaxRetryAfterS. Nothing if it is neither.
std::optional<uint64_t> ParseRetryAfter(std::string_view header, uint64_t now_s);

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_POLICY_RETRY_AFTER_H_

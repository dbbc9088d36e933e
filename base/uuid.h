// Time-ordered identifiers: UUIDv7 (RFC 9562) in lower-case text. The name of every report.
#ifndef JANKBOX_BASE_UUID_H_
#define JANKBOX_BASE_UUID_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace jankbox {

// A new id whose leading 48 bits are `realtime_ms`. Random part from the kernel.
// THREAD-SAFE.
std::string NewUuid(uint64_t realtime_ms);

// The id of that time whose other bits are taken from `seed`: the same for the same seed, so that
// work which is repeated after a crash names its result the same. THREAD-SAFE.
std::string DerivedUuid(uint64_t realtime_ms, const uint64_t (&seed)[2]);

// True for exactly 36 characters of lower-case hexadecimal digits with dashes at 8, 13, 18 and 23:
// safe as a file name.
bool IsUuid(std::string_view text);

}  // namespace jankbox

#endif  // JANKBOX_BASE_UUID_H_

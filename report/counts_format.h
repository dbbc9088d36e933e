// What both ends of the counts agree on besides the schema (docs/formats/counts.md). Constants.
#ifndef JANKBOX_REPORT_COUNTS_FORMAT_H_
#define JANKBOX_REPORT_COUNTS_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace jankbox {

inline constexpr uint32_t kCountsFormat = 1;
inline constexpr size_t kMaxCounters = 500;   // of an epoch; one more is for the rest, kOtherKey
inline constexpr char kOtherKey[] = "other";  // incidents without a counter of their own

// Usage: days and versions of an epoch; one more row is for the rest.
inline constexpr size_t kMaxUsage = 128;
// No device comes near: sums of what is accepted stay far below the limits of the numbers.
inline constexpr uint64_t kMaxUsageNumber = uint64_t{1} << 50;
inline constexpr uint32_t kMaxUsageDay = 1u << 20;

}  // namespace jankbox

#endif  // JANKBOX_REPORT_COUNTS_FORMAT_H_

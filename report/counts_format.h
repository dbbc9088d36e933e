// What both ends of the counts agree on besides the schema (docs/formats/counts.md). Constants.
#ifndef JANKBOX_REPORT_COUNTS_FORMAT_H_
#define JANKBOX_REPORT_COUNTS_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace jankbox {

inline constexpr uint32_t kCountsFormat = 1;
inline constexpr size_t kMaxCounters = 500;   // of an epoch; one more is for the rest, kOtherKey
inline constexpr char kOtherKey[] = "other";  // incidents without a counter of their own

}  // namespace jankbox

#endif  // JANKBOX_REPORT_COUNTS_FORMAT_H_

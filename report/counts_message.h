// A Counts message as a server receives it: parsed, and checked against the limits of
// docs/formats/counts.md. Untrusted input. For programs only. Pure; allocates.
#ifndef JANKBOX_REPORT_COUNTS_MESSAGE_H_
#define JANKBOX_REPORT_COUNTS_MESSAGE_H_

#include <cstddef>
#include <string_view>

#include "base/status.h"
#include "report/report.pb.h"

namespace jankbox {

inline constexpr size_t kMaxCountsBytes = 1u << 20;

// kInvalidArgument says what is wrong.
Result<proto::Counts> ParseCounts(std::string_view bytes);

}  // namespace jankbox

#endif  // JANKBOX_REPORT_COUNTS_MESSAGE_H_

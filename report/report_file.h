// Reading sealed reports: `<id>.pftrace.zst` is zstd frames (the Perfetto trace) followed by
// skippable frames, the last of which contains the Report message. For programs (command,
// collector, tests): uses libprotobuf. Untrusted input: every length is checked, windows above 2^21
// and outputs above the caller's cap are refused. Threads: any.
#ifndef JANKBOX_REPORT_REPORT_FILE_H_
#define JANKBOX_REPORT_REPORT_FILE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "report/report.h"  // kReportFileSuffix, kMaxReportMessageBytes
#include "report/report.pb.h"

namespace jankbox {

inline constexpr size_t kMaxReportFileBytes = 64u << 20;

// The Report in the last skippable frame of `file`. kCorrupt if the frames do not add up to the
// whole file, a frame's header is damaged, the last frame is not a report, or its id is no UUID.
Result<proto::Report> ParseReport(std::string_view file);

// Reads and parses a file.
Result<proto::Report> ReadReportFile(const std::string& path);

// Decompresses the trace in `file`, passing pieces to `write` (which may refuse with a Status).
// Refuses more than `max_bytes` of output.
Status DecompressTrace(std::string_view file, size_t max_bytes,
                       const std::function<Status(std::string_view)>& write);

}  // namespace jankbox

#endif  // JANKBOX_REPORT_REPORT_FILE_H_

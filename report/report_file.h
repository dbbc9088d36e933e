// Reading sealed reports, and joining their parts again: `<id>.pftrace.zst` is zstd frames (the
// Perfetto trace) followed by skippable frames, the last of which contains the Report message. For
// programs (command, collector, tests): uses libprotobuf. Untrusted input: every length is checked,
// windows above 2^21 and outputs above the caller's cap are refused. Threads: any.
#ifndef JANKBOX_REPORT_REPORT_FILE_H_
#define JANKBOX_REPORT_REPORT_FILE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

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

// The parts of a sealed file, views into it.
struct ReportFileParts {
  std::vector<std::string_view> trace;  // its zstd frames, each of which can be decompressed alone
  std::string_view others;              // skippable frames before the report's
  std::string_view report;              // the Report message
};

// kCorrupt as for ParseReport(), but the message is not parsed.
Result<ReportFileParts> SplitReportFile(std::string_view file);

// A file of the frames in `parts`, with `report` in place of its message. kNoSpace if a reader
// would refuse it: message, file or number of frames too large.
Result<std::string> JoinReportFile(const ReportFileParts& parts, const proto::Report& report);

}  // namespace jankbox

#endif  // JANKBOX_REPORT_REPORT_FILE_H_

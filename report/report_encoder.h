// Messages of report.proto to protobuf bytes, and a report to the zstd skippable frame that ends
// its file. Runs on Jankbox's own threads; allocates.
#ifndef JANKBOX_REPORT_REPORT_ENCODER_H_
#define JANKBOX_REPORT_REPORT_ENCODER_H_

#include <string>
#include <string_view>

#include "report/report.h"

namespace jankbox {

// Magic of the skippable frame (the first of zstd's sixteen), little endian.
inline constexpr uint32_t kReportFrameMagic = 0x184D2A50;

// The Report message of report.proto.
std::string EncodeReport(const Report& report);
std::string EncodeCounts(const ReportCounts& counts);
std::string EncodeCountBook(const ReportCountBook& book);

// `content` as one zstd skippable frame: magic, length (u32 each, little endian), content.
std::string SkippableFrame(std::string_view content);

}  // namespace jankbox

#endif  // JANKBOX_REPORT_REPORT_ENCODER_H_

// Sealed reports for tests, made with libprotobuf and libzstd only: none of Jankbox's own writers.
#ifndef JANKBOX_TESTS_TOOLS_SEALED_REPORT_H_
#define JANKBOX_TESTS_TOOLS_SEALED_REPORT_H_

#include <string>

#include "report/report.pb.h"

namespace jankbox::tools {

// A slow message of 912 ms, 98 % of it running. `number` makes id, time and pid differ.
proto::Report SampleReport(int number = 1);

// zstd frame of `trace`, then the skippable frame with `report`.
std::string SealReport(const proto::Report& report, const std::string& trace);

// Seals into `directory` under the report's id; returns the path.
std::string SealReportFile(const std::string& directory, const proto::Report& report,
                           const std::string& trace = "perfetto trace");

}  // namespace jankbox::tools

#endif  // JANKBOX_TESTS_TOOLS_SEALED_REPORT_H_

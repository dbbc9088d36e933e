// Reports for the tests of the uploader: one with every field set, and sealed bytes around it.
#ifndef JANKBOX_TESTS_REPORT_SAMPLE_REPORT_H_
#define JANKBOX_TESTS_REPORT_SAMPLE_REPORT_H_

#include <string>
#include <string_view>

#include "report/report.h"

namespace jankbox {

// Every field set, no two numbers or texts alike.
Report FilledReport();

// The same of a file of counts.
ReportCountBook FilledCountBook();

// `content` as one zstd frame.
std::string CompressedTrace(std::string_view content, int window_log = 0);

// A whole sealed file: `trace` compressed, then `report`.
std::string SealedBytes(const Report& report, std::string_view trace);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_REPORT_SAMPLE_REPORT_H_

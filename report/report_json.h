// The JSON of a report, the same from a folder (`jankbox list --json`) and from a collector. For
// programs only.
#ifndef JANKBOX_REPORT_REPORT_JSON_H_
#define JANKBOX_REPORT_REPORT_JSON_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/report.pb.h"

namespace jankbox {

// The name of the kind in lower case ("slow_message"), or "unknown".
std::string KindName(proto::Kind kind);

// Every field of report.proto by its name, durations in milliseconds (`duration_ns` is
// "duration_ms"). Beside the fields: "from" and "to" of the window and of the parts of its
// recording as wall-clock times (RFC 3339, UTC, with milliseconds), "verdict.lock_owner" as one
// object, the messages of "history" with their names, and the group key in "identity", which is
// null in older reports.
nlohmann::json ReportToJson(const proto::Report& report);

// A part of a report as people see it: "methods", "threads", …
struct ReportSection {
  std::string name;
  std::vector<std::string> fields;  // of the report's JSON
};

// All of them, in their order. Each field of a report is in one.
const std::vector<ReportSection>& ReportSections();

}  // namespace jankbox

#endif  // JANKBOX_REPORT_REPORT_JSON_H_

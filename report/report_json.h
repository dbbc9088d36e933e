// The JSON of a report, the same from a folder (`jankbox list --json`) and from a collector. For
// programs only.
#ifndef JANKBOX_REPORT_REPORT_JSON_H_
#define JANKBOX_REPORT_REPORT_JSON_H_

#include <nlohmann/json.hpp>
#include <string_view>

#include "report/report.pb.h"

namespace jankbox {

// "slow_message", "slow_method", "jank", "startup", "anr", "recovered", "manual" or "unknown".
std::string_view KindName(proto::Kind kind);

// id, revision, kind, duration_ms, ongoing, what, process, pid, thread, tid, fingerprint, verdict
// {running_ms … unknown_ms, summary, sources}, top_frames[] (innermost first: {function, module,
// rel_pc, build_id}), window {from, to} (RFC 3339 wall-clock times in UTC with milliseconds;
// from_ns and to_ns beside them, BOOTTIME), losses {…}, and the rest.
nlohmann::json ReportToJson(const proto::Report& report);

}  // namespace jankbox

#endif  // JANKBOX_REPORT_REPORT_JSON_H_

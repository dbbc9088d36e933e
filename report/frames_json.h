// The frames and states of a report as JSON; part of ReportToJson(). Programs only; allocates.
#ifndef JANKBOX_REPORT_FRAMES_JSON_H_
#define JANKBOX_REPORT_FRAMES_JSON_H_

#include <nlohmann/json.hpp>

#include "report/report.pb.h"

namespace jankbox {

// null where the incident had no janky frame.
nlohmann::json JankyFrameToJson(const proto::Report& report);
nlohmann::json ScenesToJson(const proto::Report& report);
nlohmann::json StatesToJson(const proto::Report& report);

}  // namespace jankbox

#endif  // JANKBOX_REPORT_FRAMES_JSON_H_

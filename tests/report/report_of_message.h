// The struct Report that would be written as a given message, filled through reflection and the
// members' names: the way back that only tests need.
#ifndef JANKBOX_TESTS_REPORT_REPORT_OF_MESSAGE_H_
#define JANKBOX_TESTS_REPORT_REPORT_OF_MESSAGE_H_

#include "report/report.h"
#include "report/report.pb.h"

namespace jankbox {

Report ReportOfMessage(const proto::Report& message);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_REPORT_REPORT_OF_MESSAGE_H_

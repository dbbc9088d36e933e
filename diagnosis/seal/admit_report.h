// A question that the caller answers before a report is written.
#ifndef JANKBOX_DIAGNOSIS_SEAL_ADMIT_REPORT_H_
#define JANKBOX_DIAGNOSIS_SEAL_ADMIT_REPORT_H_

#include <functional>
#include <string>

#include "report/report.h"

namespace jankbox {

// Whether the report, as it is so far, is to be written; may add to it. `place` is the function
// that carries the blame. Sealing thread.
using AdmitReport = std::function<bool(const std::string& place, Report* report)>;

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_ADMIT_REPORT_H_

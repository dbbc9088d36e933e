// A question that the caller answers before a report is written.
#ifndef JANKBOX_DIAGNOSIS_SEAL_ADMIT_REPORT_H_
#define JANKBOX_DIAGNOSIS_SEAL_ADMIT_REPORT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "report/report.h"

namespace jankbox {

// The facts of an incident that listeners get and that are not in its report.
struct ReportedIncident {
  std::string place;      // the function that carries the blame
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC, as the next
  uint64_t end_ns = 0;
};

// Whether the report, as it is so far, is to be written; may add to it. Sealing thread.
using AdmitReport = std::function<bool(const ReportedIncident& incident, Report* report)>;

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_ADMIT_REPORT_H_

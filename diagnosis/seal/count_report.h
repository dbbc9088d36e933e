// From an incident's report, written or not, to the counts of its device. Sealing thread or
// programs; touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_COUNT_REPORT_H_
#define JANKBOX_DIAGNOSIS_SEAL_COUNT_REPORT_H_

#include <string>

#include "report/report.h"
#include "tracer/ring/incident_note.h"
#include "uploader/counts/count_book.h"

namespace jankbox {

// Says in the report of an incident that it is counted, and counts it if it is over. A snapshot
// that somebody asked for is no incident.
void CountReport(Report* report, CountBook* book);

// Counts incidents that have no report, of an app and its version.
void CountTogether(const UncountedIncident& incidents, const std::string& app_version,
                   CountBook* book);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_COUNT_REPORT_H_

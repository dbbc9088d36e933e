// From an incident's report, written or not, and from a ring's note of usage, to the counts of the
// device. Sealing thread or programs; touches the disk.
#ifndef JANKBOX_DIAGNOSIS_SEAL_COUNT_REPORT_H_
#define JANKBOX_DIAGNOSIS_SEAL_COUNT_REPORT_H_

#include <string>

#include "report/report.h"
#include "tracer/ring/incident_note.h"
#include "tracer/ring/ring_format.h"
#include "uploader/counts/count_book.h"
#include "uploader/counts/usage.h"

namespace jankbox {

// Says in the report of an incident that it is counted, and counts it if it is over. A snapshot
// that somebody asked for is no incident.
void CountReport(Report* report, CountBook* book);
// The same with the book's next write.
void CountReportLater(Report* report, CountBook* book);

// Counts incidents that have no report, of an app and its version.
void CountTogether(const UncountedIncident& incidents, const std::string& app_version,
                   CountBook* book);

// How much the process of a ring was used, as the book counts it. Empty `id`: that is not counted,
// or all is.
ProcessUsage UsageOfRing(const RingHeader& ring);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_COUNT_REPORT_H_

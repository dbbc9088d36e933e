// The incident as its trace shows it: the sentence that names its slice, what is annotated there,
// and the stretches of its verdict. Made from the finished report; sealing thread and programs;
// allocates.
#ifndef JANKBOX_DIAGNOSIS_SEAL_TRACE_INCIDENT_H_
#define JANKBOX_DIAGNOSIS_SEAL_TRACE_INCIDENT_H_

#include <string>
#include <vector>

#include "diagnosis/seal/report_source.h"
#include "diagnosis/seal/seal_request.h"
#include "diagnosis/verdict/verdict.h"
#include "report/report.h"
#include "tracer/snapshot/snapshot_input.h"

namespace jankbox {

// "slow message 904 ms: 61 % disk, in SavePreferences". `place` is the function that carries the
// blame; empty if it is not known.
std::string IncidentSentence(const Report& report, const std::string& place);

// On BOOTTIME. REQUIRES that the peers of the verdict's shares still exist.
std::vector<SnapshotStretch> TraceStretches(const Verdict& verdict, const TickConverter& clock);

// Without its stretches and gaps.
SnapshotIncident TraceIncident(const ReportSource& source, const SealRequest& request,
                               const Report& report, const std::string& place);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_TRACE_INCIDENT_H_

// How much of an incident its recorded calls cover, and when none are recorded. Called by
// SealReport() on the sealing thread or in a program; allocates.
#ifndef JANKBOX_DIAGNOSIS_SEAL_INCIDENT_COVERAGE_H_
#define JANKBOX_DIAGNOSIS_SEAL_INCIDENT_COVERAGE_H_

#include <cstdint>
#include <vector>

#include "diagnosis/seal/report_source.h"
#include "diagnosis/seal/seal_request.h"
#include "tracer/ring/ring_window.h"
#include "tracer/snapshot/snapshot_input.h"

namespace jankbox {

// The time that the incident was held for is in neither.
struct IncidentCoverage {
  uint64_t covered_ns = 0;
  std::vector<SnapshotGap> gaps;  // oldest first
};

// REQUIRES request.tid != 0.
IncidentCoverage CoverageOf(const ReportSource& source, const SealRequest& request,
                            const RingWindow& window);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_INCIDENT_COVERAGE_H_

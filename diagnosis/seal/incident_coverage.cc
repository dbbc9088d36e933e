#include "diagnosis/seal/incident_coverage.h"

#include "diagnosis/seal/coverage.h"
#include "tracer/ring/record_modes.h"

namespace jankbox {

IncidentCoverage CoverageOf(const ReportSource& source, const SealRequest& request,
                            const RingWindow& window) {
  const std::vector<RecordedMode> modes =
      RecordModesBetween(source.ring->header(), window.from_ticks, window.to_ticks);
  std::vector<SealRequest::Stretch> stretches = request.free;
  if (request.held_ns == 0) stretches = {{request.begin_ns, request.end_ns}};
  IncidentCoverage coverage;
  uint64_t ticks = 0;
  for (const SealRequest::Stretch& stretch : stretches) {
    const uint64_t from = source.clock.FromMonotonicNs(stretch.from_ns);
    const uint64_t to = source.clock.FromMonotonicNs(stretch.to_ns);
    if (to <= from) continue;
    ticks += to - from;
    for (const CoverageGap& gap : CoverageGaps(window, request.tid, from, to, modes)) {
      ticks -= gap.to_ticks - gap.from_ticks;
      coverage.gaps.push_back({source.clock.ToBoottimeNs(gap.from_ticks),
                               source.clock.ToBoottimeNs(gap.to_ticks), gap.reason});
    }
  }
  coverage.covered_ns =
      static_cast<uint64_t>(static_cast<double>(ticks) * source.clock.ns_per_tick());
  return coverage;
}

}  // namespace jankbox

// What the header and the chunks of a dead process's ring say about its end: the incidents that
// were not sealed in their last form, and the last moments of its UI thread. Pure; allocates.
#ifndef JANKBOX_DIAGNOSIS_SEAL_DEAD_RING_H_
#define JANKBOX_DIAGNOSIS_SEAL_DEAD_RING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diagnosis/seal/process_end.h"
#include "diagnosis/seal/seal_request.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ring/incident_note.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {

inline RingEnd EndOf(const RingHeader& header) {
  return static_cast<RingEnd>(header.closed.load(std::memory_order_relaxed));
}

// The last reading of the clocks that the process noted.
ClockReading LatestReading(const RingHeader& header);

struct DeadRing {
  explicit DeadRing(RingReader&& ring);

  RingReader reader;
  ClockReading latest;
  TickConverter clock;
  uint64_t end_ticks;  // its last sign of life
  ProcessEnd end;      // if it did not close its ring
};

// An incident of a dead ring that was not counted, or whose last form has no report.
struct DeadIncident {
  SealRequest request;
  bool with_report = true;  // false: only counted, as the last one of its thread has the report
};

struct DeadIncidents {
  std::vector<DeadIncident> each;
  std::vector<UncountedIncident> together;  // that are counted without a look at them
};

DeadIncidents FindIncidents(const DeadRing& ring);

// The report of an unclean end: of the first thread that had handled a message. False without one:
// no UI was at work.
bool FindExit(const DeadRing& ring, SealRequest* request);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_DEAD_RING_H_

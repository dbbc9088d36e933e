// Splits the wall time of an incident into the shares of its verdict, each stretch by the best
// source that covers it: the kernel's switches, else readings of the thread. What a wait was for is
// reported by the thread's own record of the call, else by the system call that a reading saw, else
// by the scheduler's state and the disk's requests, else by who ended it. Pure; sealing thread.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_WALL_TIME_H_
#define JANKBOX_DIAGNOSIS_VERDICT_WALL_TIME_H_

#include <cstdint>
#include <vector>

#include "diagnosis/verdict/gc_pauses.h"
#include "diagnosis/verdict/thread_span.h"
#include "diagnosis/verdict/verdict.h"
#include "diagnosis/verdict/wait_span.h"
#include "monitors/incident/verdict_timeline.h"

namespace jankbox {

// All times are CLOCK_MONOTONIC in ns.

struct WallTimeEvidence {
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  const VerdictTimeline* readings = nullptr;  // null: none
  std::vector<ThreadSpan> spans;              // in order; they may leave gaps
  VerdictSource span_source = VerdictSource::kFtrace;
  std::vector<WaitSpan> waits;  // in order; none overlaps another: the innermost counts
  std::vector<GcPause> gc_pauses;
  // Page faults served from memory: when, if the kernel reported of each (in order), else counted
  // by the readings.
  std::vector<uint64_t> fault_times;
  bool faults_told = false;
  uint64_t fault_cost_ns = 0;  // of one; 0: not known
};

// Sums to `to_ns` − `from_ns` exactly.
Verdict SplitWallTime(const WallTimeEvidence& evidence);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_WALL_TIME_H_

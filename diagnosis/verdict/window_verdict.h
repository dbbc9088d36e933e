// The verdict of an incident from all data in its window: the kernel's events, the
// thread's own record of its waits, the watcher's readings, and the stacks of whoever held the
// lock. Sealing thread and recovery; allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_WINDOW_VERDICT_H_
#define JANKBOX_DIAGNOSIS_VERDICT_WINDOW_VERDICT_H_

#include <string>

#include "diagnosis/seal/seal_request.h"
#include "diagnosis/symbols/symbolizer.h"
#include "diagnosis/verdict/verdict.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/event/method_names.h"
#include "tracer/ftrace/kernel_window.h"
#include "tracer/snapshot/thread_lives.h"

namespace jankbox {

struct VerdictWindow {
  const RingWindow* window = nullptr;
  const KernelWindow* kernel = nullptr;  // null: the process is dead
  TickConverter clock;
  // Names of the window's threads and functions.
  const ThreadLives* lives = nullptr;
  const FrameTable* frames = nullptr;
  const MethodNames* methods = nullptr;
  // Of the incident's thread, with the peers of its waits (named_waits.h); outlives the verdict.
  // Null: those of the request.
  const VerdictTimeline* readings = nullptr;
};

// Sums to the incident's length exactly. `request` outlives the verdict.
Verdict WindowVerdict(const VerdictWindow& source, const SealRequest& request);

// The same for the report, with its sentence; `place` is the function to look at.
ReportVerdict DescribeVerdict(const VerdictWindow& source, const SealRequest& request,
                              const Verdict& verdict, const std::string& place);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_WINDOW_VERDICT_H_

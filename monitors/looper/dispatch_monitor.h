// The UI thread's side of the Looper monitor: says in the ring that a dispatch runs, since when and
// for what, and notes the ones that were too slow. Every source of dispatches (explicit calls,
// android::Looper, poll loops) ends here. HOT: called by the app's threads at each message;
// NO-ALLOC, no lock, no system call, SIGNAL-SAFE.
#ifndef JANKBOX_MONITORS_LOOPER_DISPATCH_MONITOR_H_
#define JANKBOX_MONITORS_LOOPER_DISPATCH_MONITOR_H_

#include <cstdint>

#include "tracer/ring/ring_format.h"

namespace jankbox {

class DispatchMonitor {
 public:
  // A dispatch begins on this thread, at `begin_ticks` if not 0, else now. `what` may be null.
  // Nested dispatches are recorded as slices; the outermost one is what the thread is judged by.
  static void Begin(const char* what, uint64_t begin_ticks);
  static void End();

  // This thread's place in `ring`, taken on its first call; null where all kMaxWatchedThreads are
  // taken.
  static RingWatchedThread* Slot(RingHeader* ring);

  // Dispatches at least this long are noted. UINT64_MAX (the default) until the clock is
  // calibrated. Any thread.
  static void SetSlowThresholdTicks(uint64_t ticks);
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_DISPATCH_MONITOR_H_

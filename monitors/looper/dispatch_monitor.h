// The UI thread's side of the Looper monitor: says in the ring that a dispatch runs, since when and
// for what, and notes the ones that were too slow. Every source of dispatches (explicit calls,
// android::Looper, poll loops) ends here. HOT: called by the app's threads at each message;
// NO-ALLOC, no lock, no system call, SIGNAL-SAFE.
#ifndef JANKBOX_MONITORS_LOOPER_DISPATCH_MONITOR_H_
#define JANKBOX_MONITORS_LOOPER_DISPATCH_MONITOR_H_

#include <cstdint>

namespace jankbox {

class DispatchMonitor {
 public:
  // A dispatch begins on this thread, or began at `begin_ns` of CLOCK_MONOTONIC (0: now, which also
  // applies until the clock is calibrated). `what` may be null. Nested dispatches are recorded as
  // slices; the outermost one is what the thread is judged by.
  static void Begin(const char* what, uint64_t begin_ns = 0);
  static void End();

  // The thread's loop waits: no dispatch of it runs any more, however deep this wait is nested.
  static void EndAll();

  // Outermost dispatches begun by this thread; 0 if it is not watched.
  static uint64_t CountOfThisThread();

  // The name of this thread's loop in reports: `name`, a text that stays, unless the app has named
  // it.
  static void NameLoop(const char* name);
  // The app's own name for it; at most 31 bytes are kept. Copied. False if the thread is not
  // watched.
  static bool NameLoopForGood(const char* name);
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_DISPATCH_MONITOR_H_

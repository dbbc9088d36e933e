// Notices that a watched thread does not come back (5 s, as Android's input dispatch): raised once
// a dispatch, while it still lasts, so that a report exists even if the app is killed next. Pure
// logic; the watcher thread's.
#ifndef JANKBOX_MONITORS_ANR_ANR_MONITOR_H_
#define JANKBOX_MONITORS_ANR_ANR_MONITOR_H_

#include <cstdint>

#include "monitors/incident/signal.h"
#include "monitors/incident/watched_thread_view.h"

namespace jankbox {

class AnrMonitor {
 public:
  explicit AnrMonitor(uint64_t threshold_ns) : threshold_ns_(threshold_ns) {}

  void OnRunning(const RunningDispatch& running, uint64_t now_ns, SignalSink* sink) {
    if (now_ns < running.begin_ns + threshold_ns_) return;
    if (running.begin_ns < raised_until_ns_) return;  // this dispatch was told already
    raised_until_ns_ = now_ns;
    sink->OnSignal({SignalKind::kAnr, running.begin_ns, 0, running.what, 0, 0});
  }

  // A dispatch that ended before the watcher saw it overdue was not responding all the same. True
  // where it was told here and needs no other signal.
  bool OnEnded(const SlowDispatch& slow, SignalSink* sink) {
    if (slow.end_ns - slow.begin_ns < threshold_ns_) return false;
    sink->OnSignal({SignalKind::kAnr, slow.begin_ns, slow.end_ns, slow.what, 0, 0});
    return true;
  }

 private:
  uint64_t threshold_ns_;
  uint64_t raised_until_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_ANR_ANR_MONITOR_H_

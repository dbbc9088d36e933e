// Notices a dispatch that is too slow (Matrix' EvilMethod threshold, 700 ms) while it still runs;
// what it was at its end, AnrMonitor says. Pure logic; the watcher thread's. Times are those at
// which it is judged: stops of the thread are subtracted.
#ifndef JANKBOX_MONITORS_LOOPER_SLOW_MESSAGE_MONITOR_H_
#define JANKBOX_MONITORS_LOOPER_SLOW_MESSAGE_MONITOR_H_

#include <cstdint>

#include "monitors/incident/signal.h"
#include "monitors/incident/watched_thread_view.h"

namespace jankbox {

class SlowMessageMonitor {
 public:
  explicit SlowMessageMonitor(uint64_t threshold_ns) : threshold_ns_(threshold_ns) {}

  // Half the threshold is over: time to take stacks.
  bool Overdue(const RunningDispatch& running, uint64_t now_ns) const {
    return now_ns >= running.begin_ns + threshold_ns_ / 2;
  }

  void OnRunning(const RunningDispatch& running, uint64_t now_ns, SignalSink* sink) const {
    if (now_ns >= running.begin_ns + threshold_ns_) {
      sink->OnSignal({SignalKind::kSlowMessage, running.begin_ns, 0, running.what, 0, 0});
    }
  }

 private:
  uint64_t threshold_ns_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_SLOW_MESSAGE_MONITOR_H_

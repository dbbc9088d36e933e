// The watcher's side of one thread's frames: takes every frame from its queue, counts it, and turns
// those that are janky into signals. Frames exist if something was rendered, so that idle time
// and not rendering are never jank. Watcher thread.
#ifndef JANKBOX_MONITORS_FRAME_FRAME_WATCH_H_
#define JANKBOX_MONITORS_FRAME_FRAME_WATCH_H_

#include <vector>

#include "monitors/frame/frame_monitor.h"
#include "monitors/incident/held_time.h"
#include "monitors/incident/refusals.h"
#include "monitors/incident/signal.h"

namespace jankbox {

class FrameWatch {
 public:
  // Of the watched thread whose slot in the ring has that index.
  FrameWatch(size_t index, Refusals* refusals)
      : queue_(FrameMonitor::QueueOf(index)), refusals_(refusals) {}

  // Takes what the thread queued and has ended by `now_ns` (a later end waits for the next poll:
  // whether the process was stopped meanwhile is not known yet), and passes to `sink` the oldest
  // janky frame that it did not get yet. One for each poll: to the incident a second one of the
  // same look would be the same block. `holds` are the thread's; `idle_ns` is when it was seen idle
  // last, 0: never.
  void Look(uint64_t now_ns, const HoldHistory& holds, uint64_t idle_ns, SignalSink* sink);

  // When the first frame that the last poll took had ended; 0: it took none.
  uint64_t earliest_end_ns() const { return earliest_end_ns_; }

  // Janky frames wait for the next poll.
  bool pending() const { return !janky_.empty(); }

  // A frame is janky, at 60 Hz, once it takes as long.
  static uint64_t JankyNs();

 private:
  struct Janky {
    FrameEvent frame;     // without what it is not to blame for
    uint64_t end_ns = 0;  // as it was reported
  };

  void Judge(QueuedFrame queued, const HoldHistory& holds, uint64_t idle_ns, uint64_t now_ns);
  void Keep(const Janky& janky, uint64_t now_ns);

  FrameQueue* const queue_;
  Refusals* const refusals_;
  std::vector<Janky> janky_;  // oldest first
  uint64_t earliest_end_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_FRAME_WATCH_H_

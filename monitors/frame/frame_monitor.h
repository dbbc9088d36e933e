// Frames of the explicit doFrame API: recorded in the ring, and noted on the thread's slot where
// they reach the band that is sealed. HOT: called on the UI thread once a frame; NO-ALLOC, no lock,
// no system call.
#ifndef JANKBOX_MONITORS_FRAME_FRAME_MONITOR_H_
#define JANKBOX_MONITORS_FRAME_FRAME_MONITOR_H_

#include <optional>

#include "monitors/frame/frame_policy.h"
#include "monitors/incident/signal.h"
#include "monitors/incident/watched_thread_view.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

class FrameMonitor {
 public:
  // One frame of this thread, whose slot in the ring is `slot` (null: recorded, never sealed).
  static void OnFrame(RingWatchedThread* slot, const FrameTimes& frame);

  // Frames that drop at least this many intervals of 60 Hz are noted. Any thread.
  static void SetSealedBand(uint32_t dropped_at_60hz);

  // The watcher's side: the signal for a frame that was noted.
  static Signal SignalOf(const LateFrame& frame);
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_FRAME_MONITOR_H_

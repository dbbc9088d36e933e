// The UI thread's side of the frames: each is recorded in the ring and queued for the watcher,
// whatever source reported of it (explicit calls, AChoreographer, GTK, buffer swaps, presentation
// feedback). HOT: called on the UI thread once a frame; NO-ALLOC, no lock, no system call.
#ifndef JANKBOX_MONITORS_FRAME_FRAME_MONITOR_H_
#define JANKBOX_MONITORS_FRAME_FRAME_MONITOR_H_

#include "monitors/frame/frame_policy.h"
#include "monitors/frame/frame_queue.h"
#include "monitors/frame/presentation_clock.h"
#include "tracer/ring/watched_slot.h"

namespace jankbox {

struct FrameOptions {
  uint32_t sealed_band = 9;  // of FramePolicy::kBands, in intervals of 60 Hz
  FramePolicy policy = FramePolicy::kBands;
};

class FrameMonitor {
 public:
  // One frame of this thread, whose slot is `slot` (none: recorded, never judged). An
  // interval of 0 is that of the thread's last frame, else 60 Hz. Frames that cannot be true and
  // those of a second source on the same thread are left out; the former are counted.
  static void OnFrame(WatchedSlot slot, FrameEvent frame);

  // The same for a frame whose presentation is known, or that was discarded.
  static void OnPresented(WatchedSlot slot, const FrameEvent& work,
                          const Presentation& presentation);

  // The frame that runs on this thread enters `phase`, which lasts until the next mark or the
  // frame's end.
  static void MarkPhase(WatchedSlot slot, FramePhase phase, uint64_t now_ns);

  // Before recording starts: the options take effect, and frames of an earlier recording are gone.
  // Cold.
  static void Start(const FrameOptions& options);

  // Any thread.
  static FrameOptions options();
  static void SetOptions(const FrameOptions& options);

  // Of the watched thread with that index.
  static FrameQueue* QueueOf(size_t index);
};

// "api", "gtk", …: what a report calls the source.
const char* FrameSourceName(FrameSource source);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_FRAME_MONITOR_H_

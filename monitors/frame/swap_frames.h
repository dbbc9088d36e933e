// Frames of a thread that says nothing but "swap the buffers": the work between the end of the last
// swap, or the start of the dispatch that it is in, and the swap. What the program waited for in
// between is no work, and neither is the swap, which may wait for the display. One thread; pure but
// for its own state; NO-ALLOC, HOT.
#ifndef JANKBOX_MONITORS_FRAME_SWAP_FRAMES_H_
#define JANKBOX_MONITORS_FRAME_SWAP_FRAMES_H_

#include <algorithm>
#include <cstdint>

#include "monitors/frame/frame_policy.h"

namespace jankbox {

class SwapFrames {
 public:
  // The thread begins to swap at `now_ns`; the dispatch that it is in, if any, began at
  // `dispatch_begin_ns` (0: none). False if there is no frame to report: the thread's first
  // swap, outside of a dispatch and before any pause: the start of its work is unknown.
  bool OnSwap(uint64_t now_ns, uint64_t dispatch_begin_ns, FrameEvent* frame) {
    const uint64_t begin_ns = std::max(work_begin_ns_, dispatch_begin_ns);
    if (begin_ns == 0 || begin_ns > now_ns) return false;
    frame->start_ns = begin_ns;
    frame->end_ns = now_ns;
    return true;
  }
  void OnSwapDone(uint64_t now_ns) { work_begin_ns_ = now_ns; }

  // The program slept or waited for events of its own will from `begin_ns` to `end_ns`. Work of
  // less than an interval before that is done with: a loop that looks for events every millisecond
  // draws no frame. Longer work is a frame's that is still to come, unless the program waits for an
  // interval or more: then it was none.
  void OnIdle(uint64_t begin_ns, uint64_t end_ns, uint64_t interval_ns) {
    const bool little_work = begin_ns < work_begin_ns_ + interval_ns || work_begin_ns_ == 0;
    if (little_work || end_ns - begin_ns >= interval_ns) work_begin_ns_ = end_ns;
  }

 private:
  uint64_t work_begin_ns_ = 0;  // 0: not known yet
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_SWAP_FRAMES_H_

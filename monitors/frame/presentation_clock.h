// From what a compositor says of a frame (wp_presentation of Wayland) to the frame: which vsync its
// work belongs to, when it was to be shown, and whether it was. Keeps the last presentation. One
// thread; NO-ALLOC.
#ifndef JANKBOX_MONITORS_FRAME_PRESENTATION_CLOCK_H_
#define JANKBOX_MONITORS_FRAME_PRESENTATION_CLOCK_H_

#include <cstdint>

#include "monitors/frame/frame_policy.h"

namespace jankbox {

// wp_presentation_feedback's events, joined. Times in ns of CLOCK_MONOTONIC.
struct Presentation {
  bool discarded = false;
  uint64_t presented_ns = 0;
  uint64_t refresh_ns = 0;  // 0: not constant, or not known
  uint64_t sequence = 0;    // vertical retraces of the output; 0: not known
};

class PresentationClock {
 public:
  // `work` has start and end of the frame's work. A frame that was begun within an interval of the
  // last presentation follows it: it is late by as many retraces as are between the two. One after
  // an idle gap is late if more than two intervals pass from its start to its presentation:
  // compositors may take one of them.
  FrameEvent FrameOf(const FrameEvent& work, const Presentation& presentation);

  void Clear() { *this = PresentationClock(); }

 private:
  uint64_t MissedRetraces(const FrameEvent& work, const Presentation& presentation) const;

  uint64_t refresh_ns_ = kReferenceIntervalNs;
  uint64_t presented_ns_ = 0;  // of the last frame that was shown; 0: none yet
  uint64_t sequence_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_PRESENTATION_CLOCK_H_

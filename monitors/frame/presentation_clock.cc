#include "monitors/frame/presentation_clock.h"

#include <algorithm>

namespace jankbox {
namespace {

// The last retrace at or before `at_ns`, if there was one at `retrace_ns`.
uint64_t RetraceBefore(uint64_t at_ns, uint64_t retrace_ns, uint64_t interval_ns) {
  const uint64_t off = at_ns >= retrace_ns
                           ? (at_ns - retrace_ns) % interval_ns
                           : interval_ns - 1 - (retrace_ns - at_ns - 1) % interval_ns;
  return at_ns - std::min(off, at_ns);
}

}  // namespace

uint64_t PresentationClock::MissedRetraces(const FrameEvent& work,
                                           const Presentation& presentation) const {
  const uint64_t shown_ns = presentation.presented_ns;
  const bool follows = presented_ns_ != 0 && work.start_ns <= presented_ns_ + refresh_ns_;
  if (follows && presentation.sequence > sequence_ && sequence_ != 0) {
    return presentation.sequence - sequence_ - 1;
  }
  // Three quarters of a retrace are one: times jitter, and compositors without a display (Weston's
  // headless one) present when they are done.
  const uint64_t from_ns = follows ? presented_ns_ - refresh_ns_ / 4 : work.start_ns;
  const uint64_t intervals = (shown_ns - std::min(shown_ns, from_ns)) / refresh_ns_;
  const uint64_t forgiven = follows ? 1 : 2;
  return intervals - std::min(intervals, forgiven);
}

FrameEvent PresentationClock::FrameOf(const FrameEvent& work, const Presentation& presentation) {
  FrameEvent frame = work;
  frame.source = FrameSource::kPresentation;
  const uint64_t refresh_ns = presentation.refresh_ns;
  if (refresh_ns >= 1'000'000 && refresh_ns <= 1'000'000'000) refresh_ns_ = refresh_ns;
  frame.interval_ns = refresh_ns_;
  if (frame.vsync_ns == 0 && presented_ns_ != 0) {
    frame.vsync_ns = RetraceBefore(work.start_ns, presented_ns_, refresh_ns_);
  }
  if (presentation.discarded) {
    frame.fate = FrameFate::kDiscarded;
    return frame;
  }
  frame.fate = FrameFate::kPresented;
  frame.presented_ns = presentation.presented_ns;
  frame.expected_present_ns =
      presentation.presented_ns - MissedRetraces(work, presentation) * refresh_ns_;
  if (frame.deadline_ns == 0) frame.deadline_ns = frame.expected_present_ns;
  if (frame.vsync_id == 0) frame.vsync_id = presentation.sequence;
  presented_ns_ = presentation.presented_ns;
  sequence_ = presentation.sequence;
  return frame;
}

}  // namespace jankbox

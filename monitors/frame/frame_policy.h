// When a frame is janky: pure functions of its times. Bands as Matrix' FrameTracer has them, each
// standing for the same time on every display (3 intervals at 60 Hz are 6 at 120 Hz); JankStats'
// factor and the deadline as other policies. THREAD-SAFE, NO-ALLOC.
#ifndef JANKBOX_MONITORS_FRAME_FRAME_POLICY_H_
#define JANKBOX_MONITORS_FRAME_FRAME_POLICY_H_

#include <algorithm>
#include <cstdint>

#include "tracer/event/frame_event.h"

namespace jankbox {

enum class FrameBand : uint32_t { kBest = 0, kNormal = 3, kMiddle = 9, kHigh = 24, kFrozen = 42 };
inline constexpr FrameBand kFrameBands[] = {
    FrameBand::kBest, FrameBand::kNormal, FrameBand::kMiddle, FrameBand::kHigh, FrameBand::kFrozen};
inline constexpr size_t kFrameBandCount = 5;

// The frames that are sealed: frames in or above a band (Matrix), of more than twice the interval
// (JankStats' default factor), or that ended after their deadline. Numbers are those of jankbox.h.
enum class FramePolicy : uint32_t { kBands = 0, kJankStats = 1, kDeadline = 2 };

// 60 Hz, the rate that the bands are defined at (Matrix: 16,666,667 ns).
inline constexpr uint64_t kReferenceIntervalNs = 16'666'667;
// Android vitals: a frame of this length is frozen, by every policy.
inline constexpr uint64_t kFrozenFrameNs = 700'000'000;

namespace frame_policy {
inline constexpr uint64_t kOutlier = uint64_t{1} << 62;  // and above: negative, or Honor's metrics
inline constexpr uint64_t kMaxFrameNs = 60'000'000'000;
inline constexpr uint64_t kJankStatsFactor = 2;
}  // namespace frame_policy

// When the frame was due to begin.
constexpr uint64_t BeginOf(const FrameEvent& frame) {
  return frame.vsync_ns != 0 ? frame.vsync_ns : frame.start_ns;
}

// From vsync to the end of doFrame.
constexpr uint64_t TotalNs(const FrameEvent& frame) { return frame.end_ns - BeginOf(frame); }

// How long after its vsync doFrame began.
constexpr uint64_t JitterNs(const FrameEvent& frame) {
  return frame.start_ns - std::min(frame.start_ns, BeginOf(frame));
}

constexpr uint64_t DeadlineOf(const FrameEvent& frame) {
  return frame.deadline_ns != 0 ? frame.deadline_ns : BeginOf(frame) + frame.interval_ns;
}

// True if the numbers can be a frame's: none of them negative or absurd, an interval of 1 to
// 1000 Hz, an end after its start, and less than a minute.
constexpr bool IsPlausible(const FrameEvent& frame) {
  bool small = frame.deadline_ns < frame_policy::kOutlier &&
               frame.expected_present_ns < frame_policy::kOutlier &&
               frame.presented_ns < frame_policy::kOutlier && frame.end_ns < frame_policy::kOutlier;
  for (uint64_t phase_ns : frame.phase_ns) small = small && phase_ns <= frame_policy::kMaxFrameNs;
  return small && frame.interval_ns >= 1'000'000 && frame.interval_ns <= 1'000'000'000 &&
         BeginOf(frame) != 0 && frame.end_ns >= BeginOf(frame) && frame.end_ns >= frame.start_ns &&
         frame.end_ns - std::min(BeginOf(frame), frame.start_ns) <= frame_policy::kMaxFrameNs;
}

// max(0, total - interval): how much longer the frame was shown before it than one interval.
constexpr uint64_t DroppedNs(const FrameEvent& frame) {
  return TotalNs(frame) - std::min(TotalNs(frame), frame.interval_ns);
}

// max(0, (total - interval) / interval), in whole intervals of the display at that frame.
constexpr uint64_t DroppedIntervals(const FrameEvent& frame) {
  return DroppedNs(frame) / frame.interval_ns;
}

// True if `dropped_ns` lasts as long as `at_60hz` intervals do at 60 Hz. A millionth is
// forgiven: 16,666,666 ns is 60 Hz too.
constexpr bool ReachesBand(uint64_t dropped_ns, uint64_t at_60hz) {
  const uint64_t border_ns = at_60hz * kReferenceIntervalNs;
  return dropped_ns + border_ns / 1'000'000 >= border_ns;
}

// The index in kFrameBands.
constexpr size_t BandIndex(uint64_t dropped_ns) {
  size_t band = kFrameBandCount - 1;
  while (band > 0 && !ReachesBand(dropped_ns, static_cast<uint64_t>(kFrameBands[band]))) --band;
  return band;
}

// Whether the frame is janky: `sealed_band` is of kBands, in intervals of 60 Hz.
constexpr bool IsJanky(const FrameEvent& frame, FramePolicy policy, uint64_t sealed_band) {
  if (TotalNs(frame) >= kFrozenFrameNs) return true;
  switch (policy) {
    case FramePolicy::kJankStats:
      return TotalNs(frame) > frame_policy::kJankStatsFactor * frame.interval_ns;
    case FramePolicy::kDeadline:
      return frame.end_ns > DeadlineOf(frame);
    case FramePolicy::kBands:
      break;
  }
  return ReachesBand(DroppedNs(frame), sealed_band);
}

// Whether the display showed it later than it was meant to, by more than half an interval.
constexpr bool IsPresentedLate(const FrameEvent& frame) {
  return frame.presented_ns != 0 && frame.expected_present_ns != 0 &&
         frame.presented_ns > frame.expected_present_ns + frame.interval_ns / 2;
}

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_FRAME_POLICY_H_

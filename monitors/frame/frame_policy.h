// When a frame is janky: pure functions of its times. Bands as Matrix' FrameTracer has them, scaled
// by the refresh rate so that each stands for the same time on every display (3 intervals at 60 Hz
// are 6 at 120 Hz). THREAD-SAFE, NO-ALLOC.
#ifndef JANKBOX_MONITORS_FRAME_FRAME_POLICY_H_
#define JANKBOX_MONITORS_FRAME_FRAME_POLICY_H_

#include <cstdint>
#include <initializer_list>

namespace jankbox {

enum class FrameBand { kBest = 0, kNormal = 3, kMiddle = 9, kHigh = 24, kFrozen = 42 };

// 60 Hz, the rate that the bands are defined at (Matrix: 16,666,667 ns).
inline constexpr uint64_t kReferenceIntervalNs = 16'666'667;

struct FrameTimes {
  uint64_t vsync_ns = 0;  // CLOCK_MONOTONIC; 0: not known, start_ns stands in
  uint64_t deadline_ns = 0;
  uint64_t interval_ns = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
};

// True where the numbers can be a frame's: an interval of 1 to 1000 Hz, an end after its begin, and
// less than a minute.
constexpr bool IsPlausible(const FrameTimes& frame) {
  const uint64_t begin = frame.vsync_ns != 0 ? frame.vsync_ns : frame.start_ns;
  return frame.interval_ns >= 1'000'000 && frame.interval_ns <= 1'000'000'000 && begin != 0 &&
         frame.end_ns >= begin && frame.end_ns >= frame.start_ns &&
         frame.end_ns - begin <= 60'000'000'000;
}

// max(0, (total - interval) / interval), total from vsync to end.
constexpr uint64_t DroppedIntervals(const FrameTimes& frame) {
  const uint64_t begin = frame.vsync_ns != 0 ? frame.vsync_ns : frame.start_ns;
  const uint64_t total = frame.end_ns - begin;
  return total <= frame.interval_ns ? 0 : (total - frame.interval_ns) / frame.interval_ns;
}

// True where `dropped` of intervals of `interval_ns` last at least as long as `at_60hz` do at 60
// Hz.
constexpr bool ReachesBand(uint64_t dropped, uint64_t interval_ns, uint64_t at_60hz) {
  // Half an interval of the display is forgiven, so that 59.94 Hz and 60 Hz agree.
  return dropped * interval_ns + interval_ns / 2 >= at_60hz * kReferenceIntervalNs;
}

constexpr FrameBand BandOf(uint64_t dropped, uint64_t interval_ns) {
  for (FrameBand band :
       {FrameBand::kFrozen, FrameBand::kHigh, FrameBand::kMiddle, FrameBand::kNormal}) {
    if (ReachesBand(dropped, interval_ns, static_cast<uint64_t>(band))) return band;
  }
  return FrameBand::kBest;
}

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_FRAME_POLICY_H_

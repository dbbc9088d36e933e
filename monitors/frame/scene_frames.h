// Statistics of the frames of one scene. Plain values, and the counter that makes
// them. One thread.
#ifndef JANKBOX_MONITORS_FRAME_SCENE_FRAMES_H_
#define JANKBOX_MONITORS_FRAME_SCENE_FRAMES_H_

#include <cstdint>

#include "monitors/frame/frame_policy.h"
#include "monitors/frame/log_histogram.h"

namespace jankbox {

struct SceneFrames {
  uint64_t from_ns = 0;  // CLOCK_MONOTONIC: begin of the first frame
  uint64_t to_ns = 0;    // end of the last one
  uint64_t frames = 0;
  uint64_t bands[kFrameBandCount] = {};  // in the order of kFrameBands
  uint64_t dropped = 0;                  // intervals
  uint64_t janky = 0;                    // by the active policy
  uint64_t frozen = 0;                   // of at least kFrozenFrameNs
  uint64_t discarded = 0;                // never shown
  uint64_t presented_late = 0;
  uint64_t phase_mean_ns[kFramePhases] = {};
  uint64_t jitter_mean_ns = 0;
  uint64_t p50_ns = 0;  // of the frames' totals, to 1 %
  uint64_t p90_ns = 0;
  uint64_t p95_ns = 0;
  uint64_t p99_ns = 0;
  uint64_t interval_ns = 0;  // of the last frame
  // Frames a second while frames were made: an idle scene has none, and does not lower it. In
  // thousandths.
  uint64_t fps_milli = 0;
  FrameSource source = FrameSource::kApi;
};

class SceneCounter {
 public:
  // REQUIRES IsPlausible(frame).
  void Add(const FrameEvent& frame, bool janky);

  uint64_t frames() const { return sums_.frames; }
  uint64_t from_ns() const { return sums_.from_ns; }
  SceneFrames Result() const;

 private:
  SceneFrames sums_;  // the means' fields contain sums
  uint64_t shown_ns_ = 0;
  LogHistogram totals_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_SCENE_FRAMES_H_

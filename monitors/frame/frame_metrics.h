// android.view.FrameMetrics as a frame: JNI (sdk/android) hands each OnFrameMetricsAvailable to it.
// Pure; any thread; NO-ALLOC.
#ifndef JANKBOX_MONITORS_FRAME_FRAME_METRICS_H_
#define JANKBOX_MONITORS_FRAME_FRAME_METRICS_H_

#include <cstdint>
#include <span>

#include "tracer/event/frame_event.h"

namespace jankbox {

// Indexes of FrameMetrics.getMetric(). Durations and times in ns; times are of CLOCK_MONOTONIC.
enum class FrameMetric : uint32_t {
  kUnknownDelay = 0,
  kInputHandling = 1,
  kAnimation = 2,
  kLayoutMeasure = 3,
  kDraw = 4,
  kSync = 5,
  kCommandIssue = 6,
  kSwapBuffers = 7,
  kTotal = 8,
  kFirstDrawFrame = 9,
  kIntendedVsync = 10,  // API 26, as the next
  kVsync = 11,
  kGpu = 12,       // API 31, as the next
  kDeadline = 13,  // a duration from the intended vsync
  kVsyncId = 14,   // API 36; -1: none
};
inline constexpr size_t kFrameMetrics = 15;

// The frame that `metrics` (as many as the API level has, in the order above) report, on a display
// of `interval_ns`. A metric that cannot be true (negative, 2^62 and above: Honor's) is in the
// frame as it is, so that IsPlausible() rejects it. Without a vsync (API 24) the frame ends at
// `now_ns`.
FrameEvent FrameOfMetrics(std::span<const int64_t> metrics, uint64_t interval_ns, uint64_t now_ns);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_FRAME_METRICS_H_

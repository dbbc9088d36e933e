#include "monitors/frame/frame_metrics.h"

#include <algorithm>

namespace jankbox {
namespace {

constexpr auto kDurationsAndTimes = static_cast<size_t>(FrameMetric::kVsyncId);

}  // namespace

FrameEvent FrameOfMetrics(std::span<const int64_t> metrics, uint64_t interval_ns, uint64_t now_ns) {
  const auto at = [metrics](FrameMetric metric) {
    const auto index = static_cast<size_t>(metric);
    return index < metrics.size() ? static_cast<uint64_t>(metrics[index]) : 0;
  };
  FrameEvent frame;
  frame.source = FrameSource::kFrameMetrics;
  frame.interval_ns = interval_ns;
  const uint64_t vsync_id = at(FrameMetric::kVsyncId);
  if (static_cast<int64_t>(vsync_id) > 0) frame.vsync_id = vsync_id;
  const uint64_t total_ns = at(FrameMetric::kTotal);
  const uint64_t vsync_ns = at(FrameMetric::kIntendedVsync);
  frame.vsync_ns = vsync_ns != 0 ? vsync_ns : now_ns - total_ns;
  frame.end_ns = frame.vsync_ns + total_ns;
  frame.start_ns = frame.vsync_ns + at(FrameMetric::kUnknownDelay);
  if (at(FrameMetric::kDeadline) != 0) {
    frame.deadline_ns = frame.vsync_ns + at(FrameMetric::kDeadline);
  }
  frame.phase_ns[static_cast<size_t>(FramePhase::kInput)] = at(FrameMetric::kInputHandling);
  frame.phase_ns[static_cast<size_t>(FramePhase::kAnimation)] = at(FrameMetric::kAnimation);
  frame.phase_ns[static_cast<size_t>(FramePhase::kTraversal)] =
      at(FrameMetric::kLayoutMeasure) + at(FrameMetric::kDraw);
  // The part of the render thread, which is the frame's last.
  frame.phase_ns[static_cast<size_t>(FramePhase::kCommit)] =
      at(FrameMetric::kSync) + at(FrameMetric::kCommandIssue) + at(FrameMetric::kSwapBuffers);
  // Sums of absurd numbers may look like good ones.
  for (int64_t metric : metrics.first(std::min(metrics.size(), kDurationsAndTimes))) {
    const bool bad = metric < 0 || metric >= int64_t{1} << 62;
    if (bad) frame.end_ns = static_cast<uint64_t>(metric);
  }
  return frame;
}

}  // namespace jankbox

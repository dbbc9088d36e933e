#include "diagnosis/seal/frame_report.h"

#include <algorithm>

#include "monitors/frame/frame_monitor.h"

namespace jankbox {
namespace {

const char* BandName(size_t band) {
  static constexpr const char* kNames[kFrameBandCount] = {"best", "normal", "middle", "high",
                                                          "frozen"};
  return kNames[band];
}

uint64_t Above(uint64_t value, uint64_t limit) { return value - std::min(value, limit); }

template <typename Fields>
void SetPhases(const uint64_t (&phase_ns)[kFramePhases], Fields* out) {
  out->input_ns = phase_ns[static_cast<size_t>(FramePhase::kInput)];
  out->animation_ns = phase_ns[static_cast<size_t>(FramePhase::kAnimation)];
  out->insets_ns = phase_ns[static_cast<size_t>(FramePhase::kInsets)];
  out->traversal_ns = phase_ns[static_cast<size_t>(FramePhase::kTraversal)];
  out->commit_ns = phase_ns[static_cast<size_t>(FramePhase::kCommit)];
}

ReportJankyFrame ToReport(const JankyFrame& janky) {
  const FrameEvent& frame = janky.frame;
  ReportJankyFrame out;
  out.vsync_id = frame.vsync_id;
  out.total_ns = TotalNs(frame);
  out.jitter_ns = JitterNs(frame);
  out.deadline_overrun_ns = Above(frame.end_ns, DeadlineOf(frame));
  SetPhases(frame.phase_ns, &out);
  out.band = BandName(BandIndex(DroppedNs(frame)));
  out.scene = janky.scene;
  if (IsPresentedLate(frame)) {
    out.presented_late_ns = Above(frame.presented_ns, frame.expected_present_ns);
  }
  return out;
}

ReportSceneFrames ToReport(const NamedSceneFrames& named, const TickConverter& clock) {
  const SceneFrames& frames = named.frames;
  ReportSceneFrames out;
  out.scene = named.scene;
  out.frames = frames.frames;
  out.from_ns = clock.MonotonicToBoottimeNs(frames.from_ns);
  out.to_ns = clock.MonotonicToBoottimeNs(frames.to_ns);
  out.fps_milli = frames.fps_milli;
  static_assert(kFrameBandCount == 5);
  out.best = frames.bands[0];
  out.normal = frames.bands[1];
  out.middle = frames.bands[2];
  out.high = frames.bands[3];
  out.frozen = frames.bands[4];
  out.dropped = frames.dropped;
  out.janky = frames.janky;
  out.above_700_ms = frames.frozen;
  out.discarded = frames.discarded;
  out.presented_late = frames.presented_late;
  SetPhases(frames.phase_mean_ns, &out);
  out.jitter_ns = frames.jitter_mean_ns;
  out.p50_ns = frames.p50_ns;
  out.p90_ns = frames.p90_ns;
  out.p95_ns = frames.p95_ns;
  out.p99_ns = frames.p99_ns;
  out.interval_ns = frames.interval_ns;
  out.source = FrameSourceName(frames.source);
  return out;
}

// The longest one that is within the incident; null if there is none.
const JankyFrame* FrameOfIncident(const FrameSummary& summary, const SealRequest& request) {
  const JankyFrame* longest = nullptr;
  for (const JankyFrame& janky : summary.janky) {
    const bool inside =
        janky.frame.end_ns > request.begin_ns && BeginOf(janky.frame) < request.end_ns;
    const bool longer = longest == nullptr || TotalNs(janky.frame) > TotalNs(longest->frame);
    if (inside && longer) longest = &janky;
  }
  return longest;
}

}  // namespace

void DescribeFrames(const ReportSource& source, const SealRequest& request, Report* report) {
  const FrameSummary& summary = source.frames;
  const JankyFrame* janky = FrameOfIncident(summary, request);
  if (janky != nullptr) {
    report->frame_source = FrameSourceName(janky->frame.source);
    report->janky_frame = ToReport(*janky);
  } else if (!summary.scenes.empty()) {
    report->frame_source = FrameSourceName(summary.scenes.front().frames.source);
  }
  for (const NamedSceneFrames& scene : summary.scenes) {
    report->scenes.push_back(ToReport(scene, source.clock));
  }
  for (const StateTag& state : source.states) {
    const bool held_after = state.to_ns == 0 || state.to_ns > request.end_ns;
    const bool during =
        state.from_ns <= request.end_ns && (held_after || state.to_ns > request.begin_ns);
    if (!during) continue;
    report->states.push_back({state.key, state.value,
                              source.clock.MonotonicToBoottimeNs(state.from_ns),
                              held_after ? 0 : source.clock.MonotonicToBoottimeNs(state.to_ns)});
  }
  report->uncounted_frames = summary.lost;
}

}  // namespace jankbox

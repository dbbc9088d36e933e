#include "monitors/frame/scene_frames.h"

namespace jankbox {

void SceneCounter::Add(const FrameEvent& frame, bool janky) {
  const uint64_t dropped = DroppedIntervals(frame);
  if (sums_.frames == 0) sums_.from_ns = BeginOf(frame);
  sums_.to_ns = frame.end_ns;
  ++sums_.frames;
  ++sums_.bands[BandIndex(DroppedNs(frame))];
  sums_.dropped += dropped;
  sums_.janky += janky ? 1 : 0;
  sums_.frozen += TotalNs(frame) >= kFrozenFrameNs ? 1 : 0;
  sums_.discarded += frame.fate == FrameFate::kDiscarded ? 1 : 0;
  sums_.presented_late += IsPresentedLate(frame) ? 1 : 0;
  for (size_t i = 0; i < kFramePhases; ++i) sums_.phase_mean_ns[i] += frame.phase_ns[i];
  sums_.jitter_mean_ns += JitterNs(frame);
  sums_.interval_ns = frame.interval_ns;
  sums_.source = frame.source;
  shown_ns_ += (dropped + 1) * frame.interval_ns;
  totals_.Add(TotalNs(frame));
}

SceneFrames SceneCounter::Result() const {
  SceneFrames result = sums_;
  if (result.frames == 0) return result;
  for (uint64_t& phase_ns : result.phase_mean_ns) phase_ns /= result.frames;
  result.jitter_mean_ns /= result.frames;
  result.p50_ns = totals_.Quantile(0.50);
  result.p90_ns = totals_.Quantile(0.90);
  result.p95_ns = totals_.Quantile(0.95);
  result.p99_ns = totals_.Quantile(0.99);
  result.fps_milli = result.frames * 1'000'000'000'000 / shown_ns_;
  return result;
}

}  // namespace jankbox

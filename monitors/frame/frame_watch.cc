#include "monitors/frame/frame_watch.h"

#include <algorithm>

#include "monitors/frame/frame_book.h"

namespace jankbox {
namespace {

constexpr size_t kMaxPending = 64;

Signal SignalOf(const FrameEvent& frame, uint64_t end_ns) {
  Signal signal;
  signal.kind = SignalKind::kJank;
  signal.begin_ns = BeginOf(frame);
  signal.end_ns = end_ns;
  signal.what = "doFrame";
  signal.dropped_frames = DroppedIntervals(frame);
  signal.frame_interval_ns = frame.interval_ns;
  return signal;
}

// A frame is not late if the program did not ask for it: its vsync passed and the thread, seen idle
// at `idle_ns`, waited for something to draw.
FrameEvent WithoutIdle(FrameEvent frame, uint64_t idle_ns) {
  const uint64_t begin_ns = BeginOf(frame);
  if (idle_ns <= begin_ns || idle_ns > frame.start_ns) return frame;
  frame.vsync_ns = idle_ns;
  if (frame.deadline_ns != 0) frame.deadline_ns += idle_ns - begin_ns;
  return frame;
}

// Nor if the process was stopped.
FrameEvent WithoutHeld(FrameEvent frame, const HeldTime& held) {
  frame.end_ns -= std::min(held.held_ns(), TotalNs(frame));
  return frame;
}

}  // namespace

void FrameWatch::Look(uint64_t now_ns, const HoldHistory& holds, uint64_t idle_ns,
                      SignalSink* sink) {
  for (uint64_t bad = queue_->TakeBad(); bad != 0; --bad) {
    refusals_->Add(RefusalReason::kBadMetrics, now_ns);
  }
  if (const uint64_t lost = queue_->TakeLost(); lost != 0) FrameBook::Get().AddLost(lost);
  QueuedFrame queued;
  earliest_end_ns_ = 0;
  while (queue_->Pop(&queued, now_ns)) {
    if (earliest_end_ns_ == 0) earliest_end_ns_ = queued.frame.end_ns;
    Judge(queued, holds, idle_ns, now_ns);
  }
  if (janky_.empty()) return;
  const Signal signal = SignalOf(janky_.front().frame, janky_.front().end_ns);
  janky_.erase(janky_.begin());
  sink->OnSignal(signal);
}

void FrameWatch::Judge(QueuedFrame queued, const HoldHistory& holds, uint64_t idle_ns,
                       uint64_t now_ns) {
  const FrameOptions options = FrameMonitor::options();
  const FrameEvent told = queued.frame;
  const FrameEvent asked = WithoutIdle(told, idle_ns);
  const HeldTime held = holds.Within(BeginOf(asked), asked.end_ns);
  queued.frame = WithoutHeld(asked, held);
  const bool janky = IsJanky(queued.frame, options.policy, options.sealed_band);
  FrameBook::Get().Add(queued, janky);
  if (janky) return Keep({queued.frame, told.end_ns}, now_ns);
  if (!IsJanky(told, options.policy, options.sealed_band)) return;
  const bool was_asked = IsJanky(asked, options.policy, options.sealed_band);
  refusals_->Add(was_asked ? held.Main() : RefusalReason::kNotRendering, told.end_ns);
}

void FrameWatch::Keep(const Janky& janky, uint64_t now_ns) {
  const bool same_block = !janky_.empty() && BeginOf(janky.frame) < janky_.back().end_ns;
  if (same_block) {
    if (TotalNs(janky.frame) > TotalNs(janky_.back().frame)) janky_.back() = janky;
  } else if (janky_.size() == kMaxPending) {
    refusals_->Add(RefusalReason::kQueueFull, now_ns);
  } else {
    janky_.push_back(janky);
  }
}

uint64_t FrameWatch::JankyNs() {
  const FrameOptions options = FrameMonitor::options();
  switch (options.policy) {
    case FramePolicy::kJankStats:
      return frame_policy::kJankStatsFactor * kReferenceIntervalNs;
    case FramePolicy::kDeadline:
      return kReferenceIntervalNs;
    case FramePolicy::kBands:
      break;
  }
  return (options.sealed_band + uint64_t{1}) * kReferenceIntervalNs;
}

}  // namespace jankbox

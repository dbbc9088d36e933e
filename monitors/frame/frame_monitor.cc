#include "monitors/frame/frame_monitor.h"

#include <atomic>

#include "tracer/event/event_sink.h"

namespace jankbox {
namespace {

std::atomic<uint32_t> g_sealed_band{static_cast<uint32_t>(FrameBand::kMiddle)};

void NoteLateFrame(RingWatchedThread* slot, const FrameTimes& frame) {
  const uint32_t version = slot->frame_version.load(std::memory_order_relaxed);
  slot->frame_version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // pairs with the fence in TakeFrame
  slot->frame_vsync_ns.store(frame.vsync_ns, std::memory_order_relaxed);
  slot->frame_interval_ns.store(frame.interval_ns, std::memory_order_relaxed);
  slot->frame_start_ns.store(frame.start_ns, std::memory_order_relaxed);
  slot->frame_end_ns.store(frame.end_ns, std::memory_order_relaxed);
  slot->frame_version.store(version + 2, std::memory_order_release);
}

}  // namespace

void FrameMonitor::OnFrame(RingWatchedThread* slot, const FrameTimes& frame) {
  const uint64_t payload[5] = {frame.vsync_ns, frame.deadline_ns, frame.interval_ns, frame.start_ns,
                               frame.end_ns};
  RecordEventAt(EventKind::kFrame, 0, UINT64_MAX, payload);
  if (slot == nullptr || !IsPlausible(frame)) return;
  slot->frame_count.store(slot->frame_count.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  if (ReachesBand(DroppedIntervals(frame), frame.interval_ns,
                  g_sealed_band.load(std::memory_order_relaxed))) {
    NoteLateFrame(slot, frame);
  }
}

void FrameMonitor::SetSealedBand(uint32_t dropped_at_60hz) {
  g_sealed_band.store(dropped_at_60hz, std::memory_order_relaxed);
}

Signal FrameMonitor::SignalOf(const LateFrame& frame) {
  const FrameTimes times = {frame.vsync_ns, 0, frame.interval_ns, frame.start_ns, frame.end_ns};
  Signal signal;
  signal.kind = SignalKind::kJank;
  signal.begin_ns = frame.vsync_ns != 0 ? frame.vsync_ns : frame.start_ns;
  signal.end_ns = frame.end_ns;
  signal.what = "doFrame";
  signal.dropped_frames = DroppedIntervals(times);
  signal.frame_interval_ns = frame.interval_ns;
  return signal;
}

}  // namespace jankbox

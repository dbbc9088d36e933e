#include "monitors/frame/frame_monitor.h"

#include <algorithm>
#include <atomic>
#include <iterator>

#include "monitors/frame/state_tags.h"
#include "tracer/event/event_sink.h"

namespace jankbox {
namespace {

constinit FrameQueue g_queues[kMaxWatchedThreads];
constinit PresentationClock g_presentations[kMaxWatchedThreads];
std::atomic<uint32_t> g_sealed_band{FrameOptions().sealed_band};
std::atomic<FramePolicy> g_policy{FrameOptions().policy};

// Marked phases become the frame's, unless the frame has phases.
void TakePhases(RunningPhases* running, FrameEvent* frame) {
  if (running->since_ns == 0) return;
  uint64_t* current = &running->cost_ns[static_cast<size_t>(running->current)];
  *current += frame->end_ns - std::min(frame->end_ns, running->since_ns);
  const bool told = std::any_of(std::begin(frame->phase_ns), std::end(frame->phase_ns),
                                [](uint64_t cost_ns) { return cost_ns != 0; });
  const bool of_this = *current <= frame_policy::kMaxFrameNs;  // and not of an earlier recording
  if (!told && of_this) std::copy_n(running->cost_ns, kFramePhases, frame->phase_ns);
  *running = RunningPhases();
}

void Record(const FrameEvent& frame) {
  const EncodedFrame encoded = EncodeFrame(frame);
  RecordEventAt(EventKind::kFrame, encoded.id, UINT64_MAX, {encoded.payload, encoded.words});
}

}  // namespace

void FrameMonitor::OnFrame(WatchedSlot slot, FrameEvent frame) {
  if (!slot) {
    if (IsPlausible(frame)) Record(frame);
    return;
  }
  FrameQueue* queue = QueueOf(slot.index());
  TakePhases(queue->phases(), &frame);
  if (frame.interval_ns == 0) frame.interval_ns = queue->last_interval_ns();
  if (frame.interval_ns == 0) frame.interval_ns = kReferenceIntervalNs;
  if (!IsPlausible(frame)) return queue->CountBad();
  if (!queue->Accepts(frame.source, frame.end_ns)) return;
  queue->SetLastInterval(frame.interval_ns);
  Record(frame);
  slot.CountFrame();
  queue->Push(frame, StateTags::CurrentScene());
}

void FrameMonitor::OnPresented(WatchedSlot slot, const FrameEvent& work,
                               const Presentation& presentation) {
  if (!slot) return OnFrame(slot, work);
  FrameEvent known = work;  // a bad number is reported to OnFrame(), and not to the clock
  if (known.interval_ns == 0) known.interval_ns = kReferenceIntervalNs;
  known.presented_ns = presentation.presented_ns;
  if (IsPlausible(known)) {
    known = g_presentations[slot.index()].FrameOf(work, presentation);
  }
  OnFrame(slot, known);
}

void FrameMonitor::MarkPhase(WatchedSlot slot, FramePhase phase, uint64_t now_ns) {
  if (!slot) return;
  RunningPhases* running = QueueOf(slot.index())->phases();
  if (running->since_ns != 0) {
    running->cost_ns[static_cast<size_t>(running->current)] +=
        now_ns - std::min(now_ns, running->since_ns);
  }
  running->current = phase;
  running->since_ns = now_ns;
}

void FrameMonitor::Start(const FrameOptions& options) {
  SetOptions(options);
  // At first they are as they are to be, on pages that nothing has touched.
  static constinit std::atomic<bool> used{false};
  if (!used.exchange(true)) return;
  for (FrameQueue& queue : g_queues) queue.Clear();
  for (PresentationClock& presentation : g_presentations) presentation.Clear();
}

FrameOptions FrameMonitor::options() {
  return {g_sealed_band.load(std::memory_order_relaxed), g_policy.load(std::memory_order_relaxed)};
}

void FrameMonitor::SetOptions(const FrameOptions& options) {
  g_sealed_band.store(options.sealed_band, std::memory_order_relaxed);
  g_policy.store(options.policy, std::memory_order_relaxed);
}

FrameQueue* FrameMonitor::QueueOf(size_t index) { return &g_queues[index]; }

const char* FrameSourceName(FrameSource source) {
  static constexpr const char* kNames[] = {
      "api", "choreographer", "frame metrics", "presentation-time", "gtk", "sdl",
      "egl", "glx",           "timer"};
  static_assert(std::size(kNames) == kFrameSources);
  return kNames[static_cast<size_t>(source)];
}

}  // namespace jankbox

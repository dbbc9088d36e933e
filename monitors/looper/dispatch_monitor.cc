#include "monitors/looper/dispatch_monitor.h"

#include "base/clock.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/watched_slot.h"

namespace jankbox {
namespace {

// The name as an event carries it, seven bytes a word.
struct NamePayload {
  uint64_t words[kDispatchNameWords];
  size_t count;

  explicit NamePayload(const PaddedName& name) : count((name.bytes + 6) / 7) {
    for (size_t i = 0; i < count; ++i) words[i] = name.Word(7 * i) & (~uint64_t{0} >> 8);
  }
};

// When a dispatch began that began at `begin_ns` of CLOCK_MONOTONIC; now, if the clock is not
// calibrated.
uint64_t TicksAt(uint64_t begin_ns) {
  const double ns_per_tick = WatchedSlot::NsPerTick();
  const uint64_t now_ns = MonotonicNs();
  const double age_ns = now_ns > begin_ns ? static_cast<double>(now_ns - begin_ns) : 0;
  return NowTicks() - (ns_per_tick > 0 ? static_cast<uint64_t>(age_ns / ns_per_tick) : 0);
}

void BeginAtTicks(const char* what, uint64_t begin) {
  const RingHeader* ring = Recorder::ActiveRing();
  if (ring == nullptr) return;
  const WatchedSlot slot = WatchedSlot::OfThisThread(ring);
  const PaddedName name(what);
  if (slot) slot.BeginDispatch(name, begin);
  const NamePayload payload(name);
  RecordEventAt(EventKind::kDispatchBegin, name.bytes, begin, {payload.words, payload.count});
}

// None where recording is off, too.
WatchedSlot SlotOfThisThread() {
  const RingHeader* ring = Recorder::ActiveRing();
  return ring == nullptr ? WatchedSlot() : WatchedSlot::OfThisThread(ring);
}

}  // namespace

void DispatchMonitor::Begin(const char* what, uint64_t begin_ns) {
  if (RecordingOn()) BeginAtTicks(what, begin_ns == 0 ? NowTicks() : TicksAt(begin_ns));
}

void DispatchMonitor::End() {
  const RingHeader* ring = Recorder::ActiveRing();
  if (ring == nullptr) return;
  const WatchedSlot slot = WatchedSlot::OfThisThread(ring);
  if (slot && !slot.EndDispatch()) return;
  RecordEvent(EventKind::kDispatchEnd, 0);
}

void DispatchMonitor::EndAll() {
  const WatchedSlot slot = SlotOfThisThread();
  if (!slot) return End();
  // In this slot to the last, also if another thread stops recording meanwhile.
  while (slot.EndDispatch()) RecordEvent(EventKind::kDispatchEnd, 0);
}

uint64_t DispatchMonitor::CountOfThisThread() {
  const RingHeader* ring = Recorder::ActiveRing();
  if (ring == nullptr) return 0;
  const WatchedSlot slot = WatchedSlot::ClaimedByThisThread(ring);
  return slot ? slot.thread().dispatch_count.load(std::memory_order_relaxed) : 0;
}

void DispatchMonitor::NameLoop(const char* name) {
  WatchedSlot::NameLoopOfThisThread(Recorder::ActiveRing(), name);
}

bool DispatchMonitor::NameLoopForGood(const char* name) {
  const WatchedSlot slot = SlotOfThisThread();
  if (!slot) return false;
  slot.NameLoop(name, true);
  return true;
}

}  // namespace jankbox

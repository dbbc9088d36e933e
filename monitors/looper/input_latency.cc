#include "monitors/looper/input_latency.h"

#include <atomic>

#include "base/clock.h"
#include "tracer/event/watcher_wake.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/watched_slot.h"

namespace jankbox {
namespace {

// The last late event of a watched thread, written only by that thread; `version` is odd
// meanwhile.
struct LateInput {
  std::atomic<uint32_t> version{0};
  std::atomic<uint64_t> event_ns{0};
  std::atomic<uint64_t> handled_ns{0};
};

constinit LateInput g_late[kMaxWatchedThreads];
constinit std::atomic<uint64_t> g_threshold_ns{2 * kNsPerSecond};

void Note(LateInput* late, uint64_t event_ns, uint64_t now_ns) {
  const uint64_t noted_ns = late->handled_ns.load(std::memory_order_relaxed);
  const uint64_t noted_wait_ns = noted_ns - late->event_ns.load(std::memory_order_relaxed);
  if (now_ns - noted_ns < kNsPerSecond && now_ns - event_ns <= noted_wait_ns) return;
  const uint32_t version = late->version.load(std::memory_order_relaxed);
  late->version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // pairs with the fence in Take()
  late->event_ns.store(event_ns, std::memory_order_relaxed);
  late->handled_ns.store(now_ns, std::memory_order_relaxed);
  late->version.store(version + 2, std::memory_order_release);
}

void OnAt(uint64_t event_ns, uint64_t now_ns) {
  if (now_ns < event_ns || now_ns - event_ns > InputLatency::kMaxAgeMs * kNsPerMs) return;
  if (now_ns - event_ns < g_threshold_ns.load(std::memory_order_relaxed)) return;
  const RingHeader* ring = Recorder::ActiveRing();
  const WatchedSlot slot = ring == nullptr ? WatchedSlot() : WatchedSlot::OfThisThread(ring);
  if (!slot) return;
  Note(&g_late[slot.index()], event_ns, now_ns);
  WatcherWake::OnActivity();
}

}  // namespace

void InputLatency::SetThreshold(uint64_t ns) {
  g_threshold_ns.store(ns, std::memory_order_relaxed);
}

void InputLatency::On(uint64_t event_ns) { OnAt(event_ns, MonotonicNs()); }

std::optional<Signal> InputLatency::Take(size_t index, uint32_t* seen) {
  const LateInput& late = g_late[index];
  const uint32_t version = late.version.load(std::memory_order_acquire);
  if (version == *seen || version % 2 != 0) return std::nullopt;
  Signal signal;
  signal.kind = SignalKind::kInputLatency;
  signal.begin_ns = late.event_ns.load(std::memory_order_relaxed);
  signal.end_ns = late.handled_ns.load(std::memory_order_relaxed);
  signal.what = "input";
  std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the fence in Note()
  if (late.version.load(std::memory_order_relaxed) != version) return std::nullopt;
  *seen = version;
  return signal;
}

void InputLatency::Forget(size_t index) {
  g_late[index].version.store(0, std::memory_order_relaxed);
  g_late[index].event_ns.store(0, std::memory_order_relaxed);
  g_late[index].handled_ns.store(0, std::memory_order_relaxed);
}

}  // namespace jankbox

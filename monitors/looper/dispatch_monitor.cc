#include "monitors/looper/dispatch_monitor.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/thread_value.h"
#include "tracer/event/event_sink.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

static_assert(kDispatchNameWords * 8 > kMaxDispatchNameBytes, "names end with a zero");

std::atomic<uint64_t> g_slow_ticks{UINT64_MAX};
std::atomic<double> g_ns_per_tick{0};

JANKBOX_THREAD_VALUE(RingHeader*, t_ring, nullptr);
JANKBOX_THREAD_VALUE(RingWatchedThread*, t_slot, nullptr);
JANKBOX_THREAD_VALUE(const char*, t_loop_name, nullptr);  // as NameLoop() said last

// `what`, at most kMaxDispatchNameBytes of it, with zeros after.
struct PaddedName {
  char text[kDispatchNameWords * 8] = {};
  uint32_t bytes = 0;

  explicit PaddedName(const char* what) {
    if (what == nullptr) return;
    bytes = static_cast<uint32_t>(std::min(strlen(what), kMaxDispatchNameBytes));
    memcpy(text, what, bytes);
  }
  uint64_t Word(size_t at) const {
    uint64_t word;
    memcpy(&word, text + at, sizeof(word));
    return word;
  }
};

// The name as an event carries it, seven bytes a word.
struct NamePayload {
  uint64_t words[kDispatchNameWords];
  size_t count;

  explicit NamePayload(const PaddedName& name) : count((name.bytes + 6) / 7) {
    for (size_t i = 0; i < count; ++i) words[i] = name.Word(7 * i) & (~uint64_t{0} >> 8);
  }
};

// Readers may read meanwhile: whole words, the last one with a zero at its end.
void StoreLoopName(RingWatchedThread* slot, const char* name) {
  char padded[kLoopNameWords * 8] = {};
  strncpy(padded, name, sizeof(padded) - 1);
  for (size_t i = 0; i < kLoopNameWords; ++i) {
    uint64_t word;
    memcpy(&word, padded + 8 * i, sizeof(word));
    slot->loop_name[i].store(word, std::memory_order_relaxed);
  }
}

void NoteSlowDispatch(RingWatchedThread* slot, uint64_t begin, uint64_t end) {
  const uint32_t version = slot->slow_version.load(std::memory_order_relaxed);
  slot->slow_version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // pairs with the fence in ReadSlowDispatch
  slot->slow_begin_ticks.store(begin, std::memory_order_relaxed);
  slot->slow_end_ticks.store(end, std::memory_order_relaxed);
  for (size_t i = 0; i < kDispatchNameWords; ++i) {
    slot->slow_what[i].store(slot->what[i].load(std::memory_order_relaxed),
                             std::memory_order_relaxed);
  }
  slot->slow_version.store(version + 2, std::memory_order_release);
}

void BeginAtTicks(const char* what, uint64_t begin) {
  RingHeader* ring = Recorder::ActiveRing();
  if (ring == nullptr) return;
  RingWatchedThread* slot = DispatchMonitor::Slot(ring);
  const PaddedName name(what);
  const uint32_t depth = slot == nullptr ? 0 : slot->dispatch_depth.load(std::memory_order_relaxed);
  if (slot != nullptr) slot->dispatch_depth.store(depth + 1, std::memory_order_relaxed);
  // A loop that is watched from outside knows no names: the first named dispatch inside lends it
  // its own.
  const bool unnamed = slot != nullptr && slot->what[0].load(std::memory_order_relaxed) == 0;
  if (slot != nullptr && (depth == 0 || (unnamed && name.bytes != 0))) {
    for (size_t i = 0; i < kDispatchNameWords; ++i) {
      slot->what[i].store(name.Word(8 * i), std::memory_order_relaxed);
    }
  }
  if (slot != nullptr && depth == 0) {
    slot->dispatch_count.store(slot->dispatch_count.load(std::memory_order_relaxed) + 1,
                               std::memory_order_relaxed);
    slot->dispatch_begin_ticks.store(begin, std::memory_order_release);
  }
  const NamePayload payload(name);
  RecordEventAt(EventKind::kDispatchBegin, name.bytes, begin, {payload.words, payload.count});
}

}  // namespace

RingWatchedThread* DispatchMonitor::Slot(RingHeader* ring) {
  if (t_ring == ring) return t_slot;
  const int saved_errno = errno;
  const int32_t tid = static_cast<int32_t>(syscall(SYS_gettid));
  errno = saved_errno;
  t_ring = ring;
  t_slot = nullptr;
  for (RingWatchedThread& slot : ring->watched) {
    int32_t free = 0;
    if (slot.tid.compare_exchange_strong(free, tid, std::memory_order_acq_rel)) {
      t_slot = &slot;
      slot.loop_named_by_app.store(0, std::memory_order_relaxed);
      StoreLoopName(&slot, t_loop_name != nullptr ? t_loop_name : "");
      WatchThisThread();
      break;
    }
  }
  return t_slot;
}

void DispatchMonitor::Begin(const char* what) {
  if (RecordingOn()) BeginAtTicks(what, NowTicks());
}

void DispatchMonitor::BeginAt(const char* what, uint64_t begin_ns) {
  if (!RecordingOn()) return;
  const double ns_per_tick = g_ns_per_tick.load(std::memory_order_relaxed);
  const uint64_t now_ns = MonotonicNs();
  const double age_ns = now_ns > begin_ns ? static_cast<double>(now_ns - begin_ns) : 0;
  const uint64_t age_ticks = ns_per_tick > 0 ? static_cast<uint64_t>(age_ns / ns_per_tick) : 0;
  BeginAtTicks(what, NowTicks() - age_ticks);
}

void DispatchMonitor::End() {
  RingHeader* ring = Recorder::ActiveRing();
  if (ring == nullptr) return;
  RingWatchedThread* slot = Slot(ring);
  if (slot != nullptr) {
    const uint32_t depth = slot->dispatch_depth.load(std::memory_order_relaxed);
    if (depth == 0) return;  // an end event without a start: recording was turned on in between
    slot->dispatch_depth.store(depth - 1, std::memory_order_relaxed);
    if (depth == 1) {
      const uint64_t begin = slot->dispatch_begin_ticks.load(std::memory_order_relaxed);
      const uint64_t now = NowTicks();
      if (now - begin >= g_slow_ticks.load(std::memory_order_relaxed)) {
        NoteSlowDispatch(slot, begin, now);
      }
      slot->dispatch_begin_ticks.store(0, std::memory_order_release);
    }
  }
  RecordEvent(EventKind::kDispatchEnd, 0);
}

void DispatchMonitor::EndAll() {
  RingHeader* ring = Recorder::ActiveRing();
  const RingWatchedThread* slot = ring == nullptr ? nullptr : Slot(ring);
  do {
    End();
  } while (slot != nullptr && slot->dispatch_depth.load(std::memory_order_relaxed) != 0);
}

uint64_t DispatchMonitor::CountOfThisThread() {
  const bool current = t_slot != nullptr && t_ring == Recorder::ActiveRing();
  return current ? t_slot->dispatch_count.load(std::memory_order_relaxed) : 0;
}

void DispatchMonitor::NameLoop(const char* name) {
  t_loop_name = name;
  RingHeader* ring = Recorder::ActiveRing();
  RingWatchedThread* slot = ring == nullptr ? nullptr : Slot(ring);
  if (slot == nullptr || slot->loop_named_by_app.load(std::memory_order_relaxed) != 0) return;
  StoreLoopName(slot, name);
}

void DispatchMonitor::NameLoopForGood(const char* name) {
  RingHeader* ring = Recorder::ActiveRing();
  RingWatchedThread* slot = ring == nullptr ? nullptr : Slot(ring);
  if (slot == nullptr) return;
  StoreLoopName(slot, name);
  slot->loop_named_by_app.store(1, std::memory_order_relaxed);
}

uint64_t DispatchMonitor::RunningSinceNs(const RingWatchedThread& slot) {
  const uint64_t begin = slot.dispatch_begin_ticks.load(std::memory_order_relaxed);
  const double ns_per_tick = g_ns_per_tick.load(std::memory_order_relaxed);
  if (begin == 0 || !(ns_per_tick > 0)) return 0;
  return MonotonicNs() -
         static_cast<uint64_t>(static_cast<double>(NowTicks() - begin) * ns_per_tick);
}

void DispatchMonitor::EndStartUp(const RingWatchedThread& slot) {
  static constexpr char kStartUp[16] = "start-up";
  uint64_t words[2];
  memcpy(words, kStartUp, sizeof(words));
  const bool named = slot.what[0].load(std::memory_order_relaxed) == words[0] &&
                     slot.what[1].load(std::memory_order_relaxed) == words[1];
  if (named && slot.dispatch_begin_ticks.load(std::memory_order_relaxed) != 0) End();
}

uint32_t DispatchMonitor::SlowThresholdMs() {
  const double ticks = static_cast<double>(g_slow_ticks.load(std::memory_order_relaxed));
  return static_cast<uint32_t>(ticks * g_ns_per_tick.load(std::memory_order_relaxed) / 1e6 + 0.5);
}

void DispatchMonitor::SetClock(double ns_per_tick, uint64_t slow_threshold_ns) {
  const bool known = ns_per_tick > 0;
  g_ns_per_tick.store(ns_per_tick, std::memory_order_relaxed);
  g_slow_ticks.store(
      known ? static_cast<uint64_t>(static_cast<double>(slow_threshold_ns) / ns_per_tick)
            : UINT64_MAX,
      std::memory_order_relaxed);
}

}  // namespace jankbox

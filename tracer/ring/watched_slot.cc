#include "tracer/ring/watched_slot.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/phase_names.h"
#include "tracer/ring/ring_end_note.h"
#include "tracer/ring/word_text.h"

namespace jankbox {

WatchedSlot WatchedSlot::Claim(const RingHeader* ring) {
  const int saved_errno = errno;
  const int32_t tid = static_cast<int32_t>(syscall(SYS_gettid));
  errno = saved_errno;
  // In this order, so that no handler takes the old slot for one of this ring.
  t_thread_ = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  t_ring_start_ = ring->clock_at_start.ticks;
  t_ring_ = ring;
  // Read-only for everyone but tracer/ring.
  for (RingWatchedThread& thread : const_cast<RingHeader*>(ring)->watched) {
    int32_t free = 0;
    if (!thread.tid.compare_exchange_strong(free, tid, std::memory_order_acq_rel)) continue;
    t_thread_ = &thread;
    const char* name = t_loop_name_;
    thread.loop_named_by_app.store(0, std::memory_order_relaxed);
    WatchedSlot(ring, &thread).StoreLoopName(name != nullptr ? name : "");
    WatchThisThread();
    break;
  }
  return WatchedSlot(ring, t_thread_);
}

void WatchedSlot::NoteSeen(uint32_t slow_version, uint64_t ticks) const {
  thread_->slow_seen_ticks.store(ticks, std::memory_order_relaxed);
  thread_->slow_seen_version.store(slow_version, std::memory_order_release);
}

void WatchedSlot::Release() const {
  thread_->dispatch_begin_ticks.store(0, std::memory_order_relaxed);
  thread_->dispatch_depth.store(0, std::memory_order_relaxed);
  thread_->slow_version.store(0, std::memory_order_relaxed);
  thread_->slow_total_ticks.store(0, std::memory_order_relaxed);
  NoteSeen(0, 0);
  thread_->tid.store(0, std::memory_order_release);
}

void WatchedSlot::NoteExit(const RingHeader* ring) {
  for (RingWatchedThread& thread : const_cast<RingHeader*>(ring)->watched) {
    thread.dispatch_begin_ticks.store(0, std::memory_order_release);
  }
  RingEndNote::Exits(ring);
}

void WatchedSlot::NoteSlow(uint64_t begin_ticks, uint64_t end_ticks) const {
  const uint32_t version = Load(thread_->slow_version);
  thread_->slow_version.store(version + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // pairs with WatchedThreadView::TakeSlow
  thread_->slow_begin_ticks.store(begin_ticks, std::memory_order_relaxed);
  thread_->slow_end_ticks.store(end_ticks, std::memory_order_relaxed);
  const uint64_t total_ticks = Load(thread_->slow_total_ticks) + (end_ticks - begin_ticks);
  thread_->slow_total_ticks.store(total_ticks, std::memory_order_relaxed);
  for (size_t i = 0; i < kDispatchNameWords; ++i) {
    thread_->slow_what[i].store(Load(thread_->what[i]), std::memory_order_relaxed);
  }
  thread_->slow_version.store(version + 2, std::memory_order_release);
}

uint64_t WatchedSlot::RunningSinceNs() const {
  const uint64_t begin = Load(thread_->dispatch_begin_ticks);
  const double ns_per_tick = NsPerTick();
  if (begin == 0 || !(ns_per_tick > 0)) return 0;
  return MonotonicNs() -
         static_cast<uint64_t>(static_cast<double>(NowTicks() - begin) * ns_per_tick);
}

void WatchedSlot::EndStartUp() const {
  uint64_t words[2];
  memcpy(words, kStartUpName, sizeof(words));
  const bool named = Load(thread_->what[0]) == words[0] && Load(thread_->what[1]) == words[1];
  if (!named || Load(thread_->dispatch_begin_ticks) == 0) return;
  if (EndDispatch()) RecordEvent(EventKind::kDispatchEnd, 0);
}

void WatchedSlot::StoreLoopName(const char* name) const {
  const uint32_t writing = Load(thread_->loop_name_version) | 1;
  thread_->loop_name_version.store(writing, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // pairs with LoopNameOf()
  StoreWordText(&thread_->loop_name, name);
  thread_->loop_name_version.store(writing + 1, std::memory_order_release);
}

void WatchedSlot::NameLoop(const char* name, bool by_app) const {
  if (!by_app && Load(thread_->loop_named_by_app) != 0) return;
  StoreLoopName(name);
  if (by_app) thread_->loop_named_by_app.store(1, std::memory_order_relaxed);
}

void WatchedSlot::NameLoopOfThisThread(const RingHeader* ring, const char* name) {
  t_loop_name_ = name;
  const WatchedSlot slot = ring == nullptr ? WatchedSlot() : OfThisThread(ring);
  if (slot) slot.NameLoop(name, false);
}

uint32_t WatchedSlot::SlowThresholdMs() {
  return static_cast<uint32_t>(static_cast<double>(Load(slow_ticks_)) * NsPerTick() / 1e6 + 0.5);
}

void WatchedSlot::SetClock(double ns_per_tick, uint64_t slow_threshold_ns) {
  const bool known = ns_per_tick > 0;
  ns_per_tick_.store(ns_per_tick, std::memory_order_relaxed);
  slow_ticks_.store(
      known ? static_cast<uint64_t>(static_cast<double>(slow_threshold_ns) / ns_per_tick)
            : UINT64_MAX,
      std::memory_order_relaxed);
}

}  // namespace jankbox

// A watched thread's slot in the ring's header: how it is claimed and released, and every write
// that the thread makes there. Dispatches and frames of all sources end here. Writing is HOT: only
// the slot's own thread does it; NO-ALLOC, no lock, SIGNAL-SAFE, and no system call but gettid when
// the slot is claimed and one that wakes a sleeping watcher. Readers:
// monitors/incident/watched_thread_view.h.
#ifndef JANKBOX_TRACER_RING_WATCHED_SLOT_H_
#define JANKBOX_TRACER_RING_WATCHED_SLOT_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "base/thread_value.h"
#include "tracer/event/event.h"
#include "tracer/event/event_sink.h"
#include "tracer/event/watcher_wake.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

// The name of a dispatch, cut and zero-padded. Null is empty.
struct PaddedName {
  char text[kDispatchNameWords * 8] = {};
  uint32_t bytes = 0;

  static_assert(kDispatchNameWords * 8 > kMaxDispatchNameBytes, "names end with a zero");
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

class WatchedSlot {
 public:
  // No slot: the thread is recorded, but not watched. Only the functions above `thread()` may be
  // called on it.
  constexpr WatchedSlot() = default;
  // The slot at `index` of a ring, for its watcher.
  WatchedSlot(RingHeader* ring, size_t index) : ring_(ring), thread_(&ring->watched[index]) {}

  // This thread's slot in `ring`, which is Recorder::ActiveRing(); claimed by its first call. None
  // if all kMaxWatchedThreads are taken.
  static WatchedSlot OfThisThread(const RingHeader* ring) {
    return IsClaimed(ring) ? WatchedSlot(ring, t_thread_) : Claim(ring);
  }
  // The same without claiming one.
  static WatchedSlot ClaimedByThisThread(const RingHeader* ring) {
    return IsClaimed(ring) ? WatchedSlot(ring, t_thread_) : WatchedSlot();
  }

  explicit operator bool() const { return thread_ != nullptr; }

  const RingWatchedThread& thread() const { return *thread_; }
  size_t index() const { return static_cast<size_t>(thread_ - ring_->watched); }
  uint32_t dispatch_depth() const { return Load(thread_->dispatch_depth); }

  // A dispatch starts. The outermost one is what the thread is judged by; a loop that is watched
  // from outside knows no names: the first named dispatch inside lends it its own.
  void BeginDispatch(const PaddedName& name, uint64_t begin_ticks) const {
    const uint32_t depth = dispatch_depth();
    thread_->dispatch_depth.store(depth + 1, std::memory_order_relaxed);
    const bool unnamed = Load(thread_->what[0]) == 0;
    if (depth == 0 || (unnamed && name.bytes != 0)) {
      // The first word last: while it is 0, readers see no name.
      for (size_t i = kDispatchNameWords; i-- > 1;) {
        thread_->what[i].store(name.Word(8 * i), std::memory_order_relaxed);
      }
      thread_->what[0].store(name.Word(0), std::memory_order_release);
    }
    if (depth != 0) return;
    thread_->dispatch_count.store(Load(thread_->dispatch_count) + 1, std::memory_order_relaxed);
    thread_->dispatch_begin_ticks.store(begin_ticks, std::memory_order_release);
    WatcherWake::OnActivity(begin_ticks);
  }

  // The innermost dispatch ends; if it was the outermost and a slow one, the slot says so. False if
  // none runs: recording was turned on within it.
  bool EndDispatch() const {
    const uint32_t depth = dispatch_depth();
    if (depth == 0) return false;
    thread_->dispatch_depth.store(depth - 1, std::memory_order_relaxed);
    if (depth == 1) EndOutermost(NowTicks());
    return true;
  }
  // The outermost dispatch, whose depth is counted already, ended at `now`.
  void EndOutermost(uint64_t now) const {
    const uint64_t begin = Load(thread_->dispatch_begin_ticks);
    if (now - begin >= Load(slow_ticks_)) NoteSlow(begin, now);
    thread_->dispatch_begin_ticks.store(0, std::memory_order_release);
  }

  // No dispatch runs, and what ran is not noted.
  void ForgetDispatch() const {
    thread_->dispatch_depth.store(0, std::memory_order_relaxed);
    thread_->dispatch_begin_ticks.store(0, std::memory_order_release);
  }

  void CountFrame() const {
    thread_->frame_count.store(Load(thread_->frame_count) + 1, std::memory_order_relaxed);
    WatcherWake::OnActivity();
  }

  // When the outermost dispatch started, on CLOCK_MONOTONIC; 0 if none runs or the clock is not
  // calibrated yet.
  uint64_t RunningSinceNs() const;

  // A program that shows a frame has started up: the dispatch of that name, which lasts until the
  // loop waits for the first time, ends, since a game's loop may never do so.
  void EndStartUp() const;

  // The name of this thread's loop in reports; at most 31 bytes are kept.
  void NameLoop(const char* name, bool by_app) const;
  // A guess at it, which does not replace the app's own name. Kept, and not copied, for the slots
  // that this thread claims later.
  static void NameLoopOfThisThread(const RingHeader* ring, const char* name);

  // The slow dispatches up to that version of the slot, `ticks` long together, became incidents, or
  // are none. On the watcher thread.
  void NoteSeen(uint32_t slow_version, uint64_t ticks) const;

  // The thread is gone. On the watcher thread.
  void Release() const;

  // The process exits: nobody is blocked in a dispatch. Any thread, and any number of times.
  static void NoteExit(const RingHeader* ring);

  // The calibrated clock and the time from which a dispatch is noted as slow. 0: not calibrated,
  // nothing is noted. Any thread.
  static void SetClock(double ns_per_tick, uint64_t slow_threshold_ns);
  static double NsPerTick() { return ns_per_tick_.load(std::memory_order_relaxed); }
  // That time; 0 if the clock is not calibrated. Any thread.
  static uint32_t SlowThresholdMs();

 private:
  WatchedSlot(const RingHeader* ring, RingWatchedThread* thread) : ring_(ring), thread_(thread) {}

  template <typename T>
  static T Load(const std::atomic<T>& field) {
    return field.load(std::memory_order_relaxed);
  }
  // A later ring may be mapped at the place of one that is gone.
  static bool IsClaimed(const RingHeader* ring) {
    return ring == t_ring_ && ring->clock_at_start.ticks == t_ring_start_;
  }
  static WatchedSlot Claim(const RingHeader* ring);
  void StoreLoopName(const char* name) const;
  void NoteSlow(uint64_t begin_ticks, uint64_t end_ticks) const;

  static inline std::atomic<uint64_t> slow_ticks_{UINT64_MAX};
  static inline std::atomic<double> ns_per_tick_{0};
  static inline JANKBOX_THREAD_VALUE(const RingHeader*, t_ring_, nullptr);
  static inline JANKBOX_THREAD_VALUE(uint64_t, t_ring_start_, 0);
  static inline JANKBOX_THREAD_VALUE(RingWatchedThread*, t_thread_, nullptr);
  static inline JANKBOX_THREAD_VALUE(const char*, t_loop_name_, nullptr);

  const RingHeader* ring_ = nullptr;
  RingWatchedThread* thread_ = nullptr;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_WATCHED_SLOT_H_

// Lets the watcher sleep while no watched thread does anything: who begins something looks at one
// word, and wakes the watcher if it sleeps. Instead of a fence on the hot path the watcher says
// that it sleeps, makes the others pass a fence (OthersFence) or waits, and looks once more before
// it does: what read the word before that is seen by then.
// Process-wide.
#ifndef JANKBOX_TRACER_EVENT_WATCHER_WAKE_H_
#define JANKBOX_TRACER_EVENT_WATCHER_WAKE_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "tracer/event/event_sink.h"
#include "tracer/event/wake_word.h"

namespace jankbox {

class WatcherWake {
 public:
  // What ended the sleep, in ticks.
  struct Activity {
    uint64_t begin_ticks = 0;  // when it began
    uint64_t woken_ticks = 0;  // when it woke the watcher
  };

  // Something began at `begin_ticks`, 0: now, and the watcher can see it. HOT: NO-ALLOC, no lock,
  // SIGNAL-SAFE; a system call only if the watcher sleeps, which it does not while things
  // begin often (LookPace).
  static void OnActivity(uint64_t begin_ticks = 0) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_relaxed)) WakeUp(begin_ticks);
  }

  // A chunk of the ring was taken at `ticks`. Once that happened AwaitClaims() times, the watcher
  // is woken also from a sleep in which it polls: the ring may have to grow. As OnActivity().
  static void OnClaim(uint64_t ticks) {
    OnActivity(ticks);
    if (claims_.fetch_sub(1, std::memory_order_relaxed) == 1) word_.Wake();
  }

  // What the watcher waits on.
  static WakeWord& word() { return word_; }

  // The rest is the watcher's. From now on activity wakes it, or no longer.
  static void SetAsleep(bool asleep) { asleep_.store(asleep, std::memory_order_seq_cst); }
  // It was set, and there was no activity since.
  static bool asleep() { return asleep_.load(std::memory_order_acquire); }
  // After so many claims from now on; 0: after none.
  static void AwaitClaims(uint32_t claims) { claims_.store(claims, std::memory_order_relaxed); }
  // The activity since the last call.
  static std::optional<Activity> Take() {
    const uint64_t woken_ticks = woken_ticks_.exchange(0, std::memory_order_acquire);
    if (woken_ticks == 0) return std::nullopt;
    return Activity{begin_ticks_.load(std::memory_order_relaxed), woken_ticks};
  }

 private:
  __attribute__((cold, noinline)) static void WakeUp(uint64_t begin_ticks) {
    if (!asleep_.exchange(false, std::memory_order_acq_rel)) return;
    const uint64_t now = NowTicks();
    begin_ticks_.store(begin_ticks != 0 ? begin_ticks : now, std::memory_order_relaxed);
    woken_ticks_.store(now, std::memory_order_release);
    word_.Wake();
  }

  static inline constinit std::atomic<bool> asleep_{false};
  static inline constinit std::atomic<uint32_t> claims_{0};
  static inline constinit std::atomic<uint64_t> begin_ticks_{0};
  static inline constinit std::atomic<uint64_t> woken_ticks_{0};
  static inline constinit WakeWord word_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_WATCHER_WAKE_H_

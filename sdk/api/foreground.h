// Whether the app is in front: set by the app, read by the watcher. Process-wide, and kept from
// before a start. Any thread; NO-ALLOC, no lock.
#ifndef JANKBOX_SDK_API_FOREGROUND_H_
#define JANKBOX_SDK_API_FOREGROUND_H_

#include <atomic>
#include <cstdint>

#include "base/clock.h"

namespace jankbox {

// CLOCK_MONOTONIC since when it is in front; 0: in the background.
inline std::atomic<uint64_t> g_in_front_since_ns{1};
// How long it was in front before that.
inline std::atomic<uint64_t> g_in_front_before_ns{0};

// True if that is a change.
inline bool SetForeground(bool foreground) {
  const uint64_t now_ns = MonotonicNs();
  if (foreground) {
    uint64_t background = 0;
    return g_in_front_since_ns.compare_exchange_strong(background, now_ns);
  }
  const uint64_t since_ns = g_in_front_since_ns.exchange(0);
  if (since_ns == 0) return false;
  // After it, so that TotalInFrontNs() counts no time twice.
  g_in_front_before_ns.fetch_add(now_ns - since_ns, std::memory_order_release);
  return true;
}

// How long it has been in front at `now_ns`; 0: it is not.
inline uint64_t InFrontNs(uint64_t now_ns) {
  const uint64_t since = g_in_front_since_ns.load(std::memory_order_relaxed);
  return since == 0 || since >= now_ns ? 0 : now_ns - since;
}

// How long it has been in front by `now_ns` in all, from some moment before the process on: for
// differences. Lower by a change that is being made.
inline uint64_t TotalInFrontNs(uint64_t now_ns) {
  const uint64_t before_ns = g_in_front_before_ns.load(std::memory_order_acquire);
  return before_ns + InFrontNs(now_ns);
}

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_FOREGROUND_H_

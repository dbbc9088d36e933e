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

// True if that is a change.
inline bool SetForeground(bool foreground) {
  const bool is = g_in_front_since_ns.load(std::memory_order_relaxed) != 0;
  if (is == foreground) return false;
  g_in_front_since_ns.store(foreground ? MonotonicNs() : 0, std::memory_order_relaxed);
  return true;
}

// How long it has been in front at `now_ns`; 0: it is not.
inline uint64_t InFrontNs(uint64_t now_ns) {
  const uint64_t since = g_in_front_since_ns.load(std::memory_order_relaxed);
  return since == 0 || since >= now_ns ? 0 : now_ns - since;
}

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_FOREGROUND_H_

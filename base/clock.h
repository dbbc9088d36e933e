// The kernel's clocks in nanoseconds. THREAD-SAFE, NO-ALLOC, SIGNAL-SAFE (vdso reads).
// Decisions take `now` as a parameter; only their callers read a clock, so tests need no fake.
#ifndef JANKBOX_BASE_CLOCK_H_
#define JANKBOX_BASE_CLOCK_H_

#include <time.h>

#include <cstdint>

namespace jankbox {

inline constexpr uint64_t kNsPerMs = 1'000'000;
inline constexpr uint64_t kNsPerSecond = 1'000'000'000;
inline constexpr uint64_t kNoTimeout = UINT64_MAX;

inline uint64_t ClockNs(clockid_t clock) {
  timespec ts{};
  clock_gettime(clock, &ts);
  return static_cast<uint64_t>(ts.tv_sec) * kNsPerSecond + static_cast<uint64_t>(ts.tv_nsec);
}
inline uint64_t MonotonicNs() { return ClockNs(CLOCK_MONOTONIC); }
inline uint64_t BoottimeNs() { return ClockNs(CLOCK_BOOTTIME); }
inline uint64_t RealtimeNs() { return ClockNs(CLOCK_REALTIME); }

}  // namespace jankbox

#endif  // JANKBOX_BASE_CLOCK_H_

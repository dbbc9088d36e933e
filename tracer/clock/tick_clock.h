// The ring's clock: the raw counter if it is trustworthy, else clock_gettime (decision 3), and
// its calibration against the kernel's clocks. ReadTicks: NO-ALLOC, SIGNAL-SAFE, THREAD-SAFE, no
// system call.
#ifndef JANKBOX_TRACER_CLOCK_TICK_CLOCK_H_
#define JANKBOX_TRACER_CLOCK_TICK_CLOCK_H_

#include <cstdint>

#include "base/clock.h"

namespace jankbox {

enum class TickSource : uint32_t {
  kClockGettime = 1,  // CLOCK_MONOTONIC in ns
  kTsc = 2,           // x86: invariant TSC, while the kernel's own clocksource is tsc
  kCntvct = 3,        // arm64: cntvct_el0
};

inline uint64_t ReadRawCounter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return MonotonicNs();
#endif
}

inline uint64_t ReadTicks(TickSource source) {
  return __builtin_expect(source != TickSource::kClockGettime, 1) ? ReadRawCounter()
                                                                  : MonotonicNs();
}

// The best source that this machine permits. Reads /sys: cold path, off the app's main thread.
TickSource ChooseTickSource();

// "tsc", "cntvct" or "clock_gettime".
const char* TickSourceName(TickSource source);

// One moment on every clock. Plain data: lives in the ring's header too.
struct ClockReading {
  uint64_t ticks = 0;
  uint64_t monotonic_ns = 0;
  uint64_t boottime_ns = 0;
  uint64_t realtime_ns = 0;
};

// Reads all clocks as close together as can be (best of several tries). No allocation.
ClockReading ReadClocks(TickSource source);

// A sleep of the machine that the counter counted and CLOCK_MONOTONIC did not: ticks before
// `at_ticks` represent moments `ahead_ns` later than the line through the readings after it says.
struct ClockBreak {
  uint64_t at_ticks = 0;  // 0: none
  uint64_t at_monotonic_ns = 0;
  uint64_t ahead_ns = 0;
};

// Converts ticks by the line through two readings. A copyable value; THREAD-SAFE once built.
class TickConverter {
 public:
  TickConverter() = default;
  // `first` and `last` in order; if they are less than 1 ms apart, `fallback_ns_per_tick` gives
  // the slope.
  // With a break both are after it.
  TickConverter(const ClockReading& first, const ClockReading& last, double fallback_ns_per_tick,
                const ClockBreak& clock_break = {});

  uint64_t ToMonotonicNs(uint64_t ticks) const;
  uint64_t ToBoottimeNs(uint64_t ticks) const { return ToMonotonicNs(ticks) + boottime_offset_ns_; }
  uint64_t MonotonicToBoottimeNs(uint64_t monotonic_ns) const {
    return monotonic_ns + boottime_offset_ns_;
  }
  uint64_t FromMonotonicNs(uint64_t monotonic_ns) const;
  double ns_per_tick() const { return ns_per_tick_; }
  const ClockReading& last() const { return last_; }

 private:
  ClockReading last_;
  ClockBreak break_;
  double ns_per_tick_ = 1.0;
  uint64_t boottime_offset_ns_ = 0;  // modulo 2^64
};

// ns per tick measured over `wait_ms` (sleeps), or exactly known (clock_gettime: 1; cntvct: from
// cntfrq_el0).
double MeasureNsPerTick(TickSource source, uint32_t wait_ms);

// The same over the time since `first`, without sleeping.
double NsPerTickSince(TickSource source, const ClockReading& first);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_CLOCK_TICK_CLOCK_H_

// Ticks to BOOTTIME for the encoder's hot loop: the converter's line, inline, kept within the
// trace: never before boot, never after the window's end. A value; NO-ALLOC, THREAD-SAFE.
#ifndef JANKBOX_TRACER_SNAPSHOT_TRACE_CLOCK_H_
#define JANKBOX_TRACER_SNAPSHOT_TRACE_CLOCK_H_

#include <algorithm>
#include <cstdint>

#include "tracer/clock/tick_clock.h"
#include "tracer/snapshot/fixed_point.h"

namespace jankbox {

class TraceClock {
 public:
  // Timestamps of a trace are signed 64-bit; far below that, importers call them broken.
  static constexpr uint64_t kMaxNs = uint64_t{1} << 61;

  TraceClock(const TickConverter& converter, uint64_t end_ticks)
      : converter_(converter),
        last_ticks_(converter.last().ticks),
        last_boottime_ns_(
            static_cast<int64_t>(std::min(converter.ToBoottimeNs(converter.last().ticks), kMaxNs))),
        ns_per_tick_(FixedPoint(converter.ns_per_tick())) {
    end_ns_ = static_cast<int64_t>(kMaxNs);
    end_ns_ = static_cast<int64_t>(BoottimeNs(end_ticks));
  }

  uint64_t BoottimeNs(uint64_t ticks) const {
    const ScaledNumber delta_ns = Scale(static_cast<int64_t>(ticks - last_ticks_), ns_per_tick_);
    // No multiplication of two words leaves three: the sum cannot overflow.
    const ScaledNumber boottime_ns = delta_ns + last_boottime_ns_;
    if (__builtin_expect(boottime_ns < 0, 0)) return 0;
    return boottime_ns < end_ns_ ? static_cast<uint64_t>(boottime_ns)
                                 : static_cast<uint64_t>(end_ns_);
  }

  // A reading of CLOCK_MONOTONIC that an event carries; not bounded by the window.
  uint64_t FromMonotonicNs(uint64_t monotonic_ns) const {
    return std::min(converter_.MonotonicToBoottimeNs(monotonic_ns), kMaxNs);
  }

  uint64_t end_ns() const { return static_cast<uint64_t>(end_ns_); }

 private:
  // Slopes up to 128 ns a tick, to 2^-56 of a ns.
  static int64_t FixedPoint(double ns_per_tick) {
    return static_cast<int64_t>(std::clamp(ns_per_tick, 0.0, 127.0) *
                                static_cast<double>(int64_t{1} << kFractionBits));
  }

  TickConverter converter_;
  uint64_t last_ticks_;
  int64_t last_boottime_ns_;
  int64_t ns_per_tick_;
  int64_t end_ns_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_TRACE_CLOCK_H_

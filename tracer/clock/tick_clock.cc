#include "tracer/clock/tick_clock.h"

#include <cmath>
#include <optional>

namespace jankbox {
namespace {

// That of a counter whose rate the CPU tells.
std::optional<double> KnownNsPerTick(TickSource source) {
  if (source == TickSource::kClockGettime) return 1.0;
#if defined(__aarch64__)
  uint64_t frequency;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  if (frequency != 0) return 1e9 / static_cast<double>(frequency);
#endif
  return std::nullopt;
}

}  // namespace

const char* TickSourceName(TickSource source) {
  switch (source) {
    case TickSource::kTsc:
      return "tsc";
    case TickSource::kCntvct:
      return "cntvct";
    case TickSource::kClockGettime:
      break;
  }
  return "clock_gettime";
}

ClockReading ReadClocks(TickSource source) {
  ClockReading best;
  uint64_t best_width = UINT64_MAX;
  for (int attempt = 0; attempt < 5; ++attempt) {
    ClockReading reading;
    const uint64_t before = ReadTicks(source);
    reading.monotonic_ns = MonotonicNs();
    const uint64_t after = ReadTicks(source);
    reading.boottime_ns = BoottimeNs();
    reading.realtime_ns = RealtimeNs();
    // BOOTTIME and REALTIME are read just after MONOTONIC: bring them back to its moment.
    const uint64_t late_ns = MonotonicNs() - reading.monotonic_ns;
    reading.boottime_ns -= late_ns / 2;
    reading.realtime_ns -= late_ns / 2;
    reading.ticks = before + (after - before) / 2;
    if (after - before < best_width) {
      best_width = after - before;
      best = reading;
    }
  }
  return best;
}

TickConverter::TickConverter(const ClockReading& first, const ClockReading& last,
                             double fallback_ns_per_tick, const ClockBreak& clock_break)
    : last_(last), break_(clock_break), ns_per_tick_(fallback_ns_per_tick) {
  const uint64_t elapsed_ns = last.monotonic_ns - first.monotonic_ns;
  if (last.ticks > first.ticks && last.monotonic_ns > first.monotonic_ns && elapsed_ns > kNsPerMs) {
    ns_per_tick_ = static_cast<double>(elapsed_ns) / static_cast<double>(last.ticks - first.ticks);
  }
  boottime_offset_ns_ = last.boottime_ns - last.monotonic_ns;
}

uint64_t TickConverter::ToMonotonicNs(uint64_t ticks) const {
  const double delta = static_cast<double>(static_cast<int64_t>(ticks - last_.ticks));
  const uint64_t ns =
      last_.monotonic_ns + static_cast<uint64_t>(std::llround(delta * ns_per_tick_));
  return ticks < break_.at_ticks ? ns + break_.ahead_ns : ns;
}

uint64_t TickConverter::FromMonotonicNs(uint64_t monotonic_ns) const {
  if (monotonic_ns < break_.at_monotonic_ns) monotonic_ns -= break_.ahead_ns;
  const double delta = static_cast<double>(static_cast<int64_t>(monotonic_ns - last_.monotonic_ns));
  return last_.ticks + static_cast<uint64_t>(std::llround(delta / ns_per_tick_));
}

double MeasureNsPerTick(TickSource source, uint32_t wait_ms) {
  const std::optional<double> known = KnownNsPerTick(source);
  if (known) return *known;
  const ClockReading first = ReadClocks(source);
  const timespec wait = {0, static_cast<long>(wait_ms) * 1'000'000};
  nanosleep(&wait, nullptr);
  return NsPerTickSince(source, first);
}

double NsPerTickSince(TickSource source, const ClockReading& first) {
  const std::optional<double> known = KnownNsPerTick(source);
  if (known) return *known;
  const ClockReading last = ReadClocks(source);
  return static_cast<double>(last.monotonic_ns - first.monotonic_ns) /
         static_cast<double>(last.ticks - first.ticks);
}

}  // namespace jankbox

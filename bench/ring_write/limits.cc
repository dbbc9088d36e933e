#include <memory>

#include "base/clock.h"
#include "bench/harness/opaque.h"
#include "bench/ring_write/kernels.h"
#include "tracer/clock/tick_clock.h"

namespace jankbox::bench {
namespace {

// Stays in the second-level cache: what the store itself costs, not the memory after it.
constexpr uint64_t kFloorWords = (64u << 10) / sizeof(uint64_t);

// Touched once, so that no page fault is timed.
uint64_t* FloorRing() {
  static const std::unique_ptr<uint64_t[]> ring(new uint64_t[kFloorWords]());
  return ring.get();
}

uint64_t g_floor_next = 0;

}  // namespace

JANKBOX_BENCH_KERNEL void RdtscPairs(uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    Use(ReadRawCounter());
    UnknownCode();
    Use(ReadRawCounter());
    UnknownCode();
  }
}

JANKBOX_BENCH_KERNEL void ClockGettimePairs(uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    Use(MonotonicNs());
    UnknownCode();
    Use(MonotonicNs());
    UnknownCode();
  }
}

JANKBOX_BENCH_KERNEL void FloorPairs(uint32_t passes) {
  uint64_t* ring = FloorRing();
  uint64_t at = g_floor_next;
  for (uint32_t i = 0; i < passes; ++i) {
    ring[at++ % kFloorWords] = ReadRawCounter() << 28 | 0x11;
    UnknownCode();
    ring[at++ % kFloorWords] = ReadRawCounter() << 28 | 0x12;
    UnknownCode();
  }
  g_floor_next = at;
}

}  // namespace jankbox::bench

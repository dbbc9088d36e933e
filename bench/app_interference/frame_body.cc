#include "bench/app_interference/frame_body.h"

#include <jankbox/inline.h>
#include <jankbox/jankbox.h>

#include <algorithm>

#include "base/clock.h"
#include "bench/harness/opaque.h"

namespace jankbox::bench {
namespace {

constexpr size_t kWords = (64u << 10) / sizeof(uint64_t);
constexpr int kCalibrationFrames = 50;
// Above the least, so that a processor that speeds up stays above it.
constexpr double kCalibratedNs = 1.1 * kLeastFrameNs;

}  // namespace

FrameBody::FrameBody() : memory_(kWords, 1) {
  for (int pass = 0; pass < 3; ++pass) {
    uint64_t least_ns = UINT64_MAX;
    for (int i = 0; i < kCalibrationFrames; ++i) least_ns = std::min(least_ns, Run());
    const double scale = kCalibratedNs / static_cast<double>(least_ns);
    steps_per_call_ = static_cast<uint32_t>(steps_per_call_ * scale) + 1;
  }
}

uint64_t FrameBody::Run() {
  static const uint32_t id = jankbox_method_id("bench::Call");
  const uint64_t begin_ns = MonotonicNs();
  uint64_t seed = 88172645463325252u;
  for (uint32_t call = 0; call < kCallsPerFrame; ++call) {
    jankbox_begin_inline(id);
    seed = Work(seed);
    jankbox_end_inline(id);
  }
  Use(seed);
  return MonotonicNs() - begin_ns;
}

inline uint64_t FrameBody::Work(uint64_t seed) {
  for (uint32_t i = 0; i < steps_per_call_; ++i) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    memory_[seed % kWords] += seed;
  }
  return seed;
}

}  // namespace jankbox::bench

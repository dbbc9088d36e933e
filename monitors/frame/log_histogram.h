// Quantiles of durations to 1 % of their value, in fixed memory: buckets whose borders grow by a
// constant factor, as DDSketch has them (docs/decisions/0011-frame-quantiles.md). NO-ALLOC; one
// thread.
#ifndef JANKBOX_MONITORS_FRAME_LOG_HISTOGRAM_H_
#define JANKBOX_MONITORS_FRAME_LOG_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace jankbox {

class LogHistogram {
 public:
  // Below the least and above the most, values count as those.
  static constexpr uint64_t kLeastNs = 1'000;
  static constexpr uint64_t kMostNs = 60'000'000'000;
  static constexpr double kRelativeError = 0.01;

  void Add(uint64_t value_ns);

  // The value that `share` (0 to 1) of all are at or below; 0 if there are none.
  uint64_t Quantile(double share) const;

  uint64_t count() const { return count_; }

 private:
  static constexpr size_t kBuckets = 900;  // of a factor of 1.01 / 0.99 from 1 us to 60 s

  std::array<uint32_t, kBuckets> counts_{};
  uint64_t count_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_LOG_HISTOGRAM_H_

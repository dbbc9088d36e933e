#include "monitors/frame/log_histogram.h"

#include <algorithm>
#include <cmath>

namespace jankbox {
namespace {

constexpr double kFactor = (1 + LogHistogram::kRelativeError) / (1 - LogHistogram::kRelativeError);

}  // namespace

// Bucket i counts values above kFactor^(i-1) and up to kFactor^i, in units of kLeastNs.
void LogHistogram::Add(uint64_t value_ns) {
  const double units =
      static_cast<double>(std::clamp(value_ns, kLeastNs, kMostNs)) / static_cast<double>(kLeastNs);
  const double bucket = std::ceil(std::log(units) / std::log(kFactor));
  ++counts_[std::min(static_cast<size_t>(bucket), kBuckets - 1)];
  ++count_;
}

uint64_t LogHistogram::Quantile(double share) const {
  if (count_ == 0) return 0;
  const double rank = std::ceil(share * static_cast<double>(count_));
  uint64_t wanted = std::clamp<uint64_t>(static_cast<uint64_t>(rank), 1, count_);
  size_t bucket = 0;
  while (wanted > counts_[bucket]) wanted -= counts_[bucket++];
  // The value that is as far, relatively, from both borders.
  const double units = 2 * std::pow(kFactor, static_cast<double>(bucket)) / (kFactor + 1);
  return static_cast<uint64_t>(units * static_cast<double>(kLeastNs));
}

}  // namespace jankbox

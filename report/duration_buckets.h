// The log histogram of counters (Counter.buckets in report.proto): four buckets for each power of
// two, so that a duration is known to 12 %. Pure; any thread.
#ifndef JANKBOX_REPORT_DURATION_BUCKETS_H_
#define JANKBOX_REPORT_DURATION_BUCKETS_H_

#include <algorithm>
#include <bit>
#include <cstdint>

namespace jankbox {

inline constexpr uint32_t kFirstPower = 20;  // 2^20 ns, about a millisecond; bucket 0 is below it
inline constexpr uint32_t kDurationBuckets = 85;  // the last one has all from 32 minutes on

inline uint32_t DurationBucket(uint64_t ns) {
  if (ns >> kFirstPower == 0) return 0;
  const auto power = static_cast<uint32_t>(std::bit_width(ns) - 1);
  const auto quarter = static_cast<uint32_t>((ns >> (power - 2)) & 3);
  return std::min(1 + 4 * (power - kFirstPower) + quarter, kDurationBuckets - 1);
}

// The shortest duration of a bucket, in ns.
inline uint64_t BucketBeginNs(uint32_t bucket) {
  if (bucket == 0) return 0;
  const uint64_t quarters = 4 + (bucket - 1) % 4;
  return quarters << (kFirstPower - 2 + (bucket - 1) / 4);
}

// A duration for all of a bucket: its middle. REQUIRES bucket < kDurationBuckets.
inline uint64_t BucketMiddleNs(uint32_t bucket) {
  return (BucketBeginNs(bucket) + BucketBeginNs(bucket + 1)) / 2;
}

}  // namespace jankbox

#endif  // JANKBOX_REPORT_DURATION_BUCKETS_H_

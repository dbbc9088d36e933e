// The counters of all devices, added up by key: what the collector's store has of them. Within a
// transaction of the caller's; blocks on the disk.
#ifndef JANKBOX_COLLECTOR_COUNT_SUMS_H_
#define JANKBOX_COLLECTOR_COUNT_SUMS_H_

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "base/status.h"
#include "collector/database.h"
#include "report/duration_buckets.h"
#include "report/report.pb.h"

namespace jankbox::collector {

inline void AddSaturating(uint64_t* sum, uint64_t value) {
  constexpr uint64_t kMax = std::numeric_limits<uint64_t>::max();
  *sum = *sum > kMax - value ? kMax : *sum + value;
}

// The incidents of one key over all devices and versions. Sums saturate.
struct KeyCount {
  static constexpr size_t kMaxVersions = 20;

  uint64_t incidents = 0;
  uint64_t total_ns = 0;
  uint64_t max_ns = 0;
  std::array<uint64_t, kDurationBuckets> buckets{};
  uint64_t epochs = 0;
  int64_t first_received_ms = 0;
  int64_t last_received_ms = 0;
  std::set<std::string> versions;  // at most kMaxVersions
  proto::Counter latest;           // for its texts and its kind

  // The median, to 12 %.
  uint64_t p50_ns() const;
};

struct CountSums {
  std::map<std::string, KeyCount> keys;
  uint64_t epochs = 0;
  uint64_t unsure_stops = 0;
  uint64_t lost_incidents = 0;
};

// The tables, for the store's schema.
extern const char kCountTables[];

// All counters.
Result<CountSums> SumCounts(Database* database);

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_COUNT_SUMS_H_

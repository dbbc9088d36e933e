// The counters of all devices, in the collector's store: a row for each epoch, version and key, the
// latest state that its device sent (docs/formats/counts.md). THREAD-SAFE; blocks on the disk.
#ifndef JANKBOX_COLLECTOR_COUNT_STORE_H_
#define JANKBOX_COLLECTOR_COUNT_STORE_H_

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "base/status.h"
#include "collector/database.h"
#include "report/duration_buckets.h"
#include "report/report.pb.h"

namespace jankbox::collector {

class ReportStore;

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

// All counters. Within the caller's transaction.
Result<CountSums> SumCounts(Database* database);

class CountStore {
 public:
  // `store` outlives this.
  explicit CountStore(ReportStore* store) : store_(store) {}

  // Takes what is newer than what is stored; durable when it returns ok. kInvalidArgument: the
  // epoch has too many counters.
  Result<proto::CountsReply> Accept(const proto::Counts& counts, int64_t received_at_ms);

  Result<CountSums> Sums();

 private:
  ReportStore* store_;
};

}  // namespace jankbox::collector

#endif  // JANKBOX_COLLECTOR_COUNT_STORE_H_

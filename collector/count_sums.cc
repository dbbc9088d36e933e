#include "collector/count_sums.h"

#include <algorithm>
#include <string_view>

#include "base/logger.h"

namespace jankbox::collector {

const char kCountTables[] = R"sql(
CREATE TABLE epochs(
  epoch TEXT PRIMARY KEY NOT NULL,
  seq INTEGER NOT NULL,
  begun TEXT NOT NULL,
  unsure_stops INTEGER NOT NULL,
  lost_incidents INTEGER NOT NULL,
  first_received_at_ms INTEGER NOT NULL,
  last_received_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE counts(
  epoch TEXT NOT NULL,
  version TEXT NOT NULL,
  key TEXT NOT NULL,
  seq INTEGER NOT NULL,
  incidents INTEGER NOT NULL,
  total_ns INTEGER NOT NULL,
  first_received_at_ms INTEGER NOT NULL,
  received_at_ms INTEGER NOT NULL,
  counter BLOB NOT NULL,
  PRIMARY KEY(epoch, version, key)) STRICT, WITHOUT ROWID;
)sql";

namespace {

void Add(const Statement& row, const proto::Counter& counter, KeyCount* count) {
  const int64_t first_ms = row.Integer(2);
  const int64_t last_ms = row.Integer(3);
  AddSaturating(&count->incidents, counter.incidents());
  AddSaturating(&count->total_ns, counter.total_ns());
  count->max_ns = std::max(count->max_ns, counter.max_ns());
  for (const proto::CounterBucket& bucket : counter.buckets()) {
    if (bucket.index() < kDurationBuckets) {
      AddSaturating(&count->buckets[bucket.index()], bucket.incidents());
    }
  }
  const bool is_first = count->epochs == 0;
  ++count->epochs;
  if (is_first || first_ms < count->first_received_ms) count->first_received_ms = first_ms;
  if (count->versions.size() < KeyCount::kMaxVersions) count->versions.insert(counter.version());
  if (!is_first && last_ms < count->last_received_ms) return;
  count->last_received_ms = last_ms;
  count->latest = counter;
}

}  // namespace

uint64_t KeyCount::p50_ns() const {
  uint64_t before = 0;
  for (uint32_t bucket = 0; bucket < kDurationBuckets; ++bucket) {
    AddSaturating(&before, buckets[bucket]);
    if (before >= incidents / 2 + incidents % 2) return std::min(BucketMiddleNs(bucket), max_ns);
  }
  return max_ns;
}

Result<CountSums> SumCounts(Database* database) {
  CountSums sums;
  Statement counters(database,
                     "SELECT key, counter, first_received_at_ms, received_at_ms FROM counts");
  Result<bool> row = counters.Step();
  for (; row.ok() && row.value(); row = counters.Step()) {
    proto::Counter counter;
    const std::string_view message = counters.Blob(1);
    if (counter.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
      Add(counters, counter, &sums.keys[std::string(counters.Text(0))]);
    } else {
      Log().warn("cannot parse a stored counter");
    }
  }
  if (!row.ok()) return row.status();
  Statement epochs(database, "SELECT unsure_stops, lost_incidents FROM epochs");
  row = epochs.Step();
  for (; row.ok() && row.value(); row = epochs.Step()) {
    ++sums.epochs;
    AddSaturating(&sums.unsure_stops, static_cast<uint64_t>(epochs.Integer(0)));
    AddSaturating(&sums.lost_incidents, static_cast<uint64_t>(epochs.Integer(1)));
  }
  if (!row.ok()) return row.status();
  return sums;
}

}  // namespace jankbox::collector

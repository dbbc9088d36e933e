#include "uploader/counts/counters.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/app_text.h"
#include "base/uuid.h"
#include "report/duration_buckets.h"
#include "uploader/counts/usage.h"

namespace jankbox {
namespace {

constexpr size_t kMaxKeyBytes = 64;

ReportBookedCounter* Find(const std::string& version, const std::string& key,
                          ReportCountBook* book) {
  for (ReportBookedCounter& booked : book->counters) {
    if (booked.counter.key == key && booked.counter.version == version) return &booked;
  }
  return nullptr;
}

// The counter for incidents of `key`: its own one if there is room.
ReportBookedCounter* CounterFor(const std::string& version, const std::string& key,
                                ReportCountBook* book) {
  if (ReportBookedCounter* own = Find(version, key, book)) return own;
  const bool room = book->counters.size() < kMaxCounters;
  if (!room) {
    if (ReportBookedCounter* other = Find("", kOtherKey, book)) return other;
  }
  ReportBookedCounter& added = book->counters.emplace_back();
  added.counter.version = room ? version : "";
  added.counter.key = room ? key : kOtherKey;
  return &added;
}

void AddToBucket(uint32_t index, uint64_t incidents, std::vector<ReportCounterBucket>* buckets) {
  auto at = std::find_if(buckets->begin(), buckets->end(),
                         [&](const ReportCounterBucket& bucket) { return bucket.index >= index; });
  if (at == buckets->end() || at->index != index) at = buckets->insert(at, {index, 0});
  at->incidents += incidents;
}

void Add(const ReportCounter& added, ReportCounter* counter) {
  const uint64_t mean_ns = added.incidents == 0 ? 0 : added.total_ns / added.incidents;
  counter->incidents += added.incidents;
  counter->total_ns += added.total_ns;
  counter->max_ns = std::max(counter->max_ns, std::min(added.max_ns, added.total_ns));
  AddToBucket(DurationBucket(mean_ns), added.incidents, &counter->buckets);
  counter->kind = added.kind;
  if (counter->key == kOtherKey) return;  // of many causes
  counter->app = AppText(added.app);
  counter->cause = AppText(added.cause);
  counter->message = AppText(added.message);
  counter->blamed_function = AppText(added.blamed_function);
}

bool IsPlausibleCounter(const ReportBookedCounter& booked, uint64_t seq) {
  const ReportCounter& counter = booked.counter;
  uint64_t incidents = 0;
  uint32_t next = 0;
  for (const ReportCounterBucket& bucket : counter.buckets) {
    if (bucket.index < next || bucket.index >= kDurationBuckets) return false;
    next = bucket.index + 1;
    incidents += bucket.incidents;
  }
  return incidents == counter.incidents && counter.max_ns <= counter.total_ns &&
         !counter.key.empty() && counter.key.size() <= kMaxKeyBytes && booked.seq <= seq;
}

}  // namespace

bool AddIncident(const CountedIncident& incident, ReportCountBook* book) {
  auto& ids = book->counted_ids;
  if (std::find(ids.begin(), ids.end(), incident.id) != ids.end()) return false;
  const ReportCounter& added = incident.counter;
  const std::string key = added.key.empty() ? kOtherKey : added.key.substr(0, kMaxKeyBytes);
  ReportBookedCounter* booked = CounterFor(AppText(added.version), key, book);
  Add(added, &booked->counter);
  booked->seq = ++book->seq;
  if (ids.size() >= kMaxCountedIds) ids.erase(ids.begin());
  ids.push_back(incident.id);
  return true;
}

void ForgetId(const std::string& id, ReportCountBook* book) { std::erase(book->counted_ids, id); }

ReportCounts UnsentCounts(const ReportCountBook& book) {
  ReportCounts counts;
  counts.format = kCountsFormat;
  counts.epoch = book.epoch;
  counts.seq = book.seq;
  counts.base_seq = book.acknowledged_seq;
  counts.begun = book.begun;
  counts.unsure_stops = book.unsure_stops;
  counts.lost_incidents = book.lost_incidents;
  for (const ReportBookedCounter& booked : book.counters) {
    if (booked.seq > book.acknowledged_seq) counts.counters.push_back(booked.counter);
  }
  return counts;
}

ReportCounter SumOfKey(const ReportCountBook& book, const std::string& key) {
  ReportCounter sum;
  for (const ReportBookedCounter& booked : book.counters) {
    if (booked.counter.key != key) continue;
    sum.incidents += booked.counter.incidents;
    sum.total_ns += booked.counter.total_ns;
    sum.max_ns = std::max(sum.max_ns, booked.counter.max_ns);
  }
  return sum;
}

bool IsPlausible(const ReportCountBook& book) {
  return IsUuid(book.epoch) && book.acknowledged_seq <= book.seq && IsPlausibleUsage(book) &&
         std::all_of(book.counters.begin(), book.counters.end(),
                     [&](const ReportBookedCounter& booked) {
                       return IsPlausibleCounter(booked, book.seq);
                     });
}

}  // namespace jankbox

#include "report/counts_message.h"

#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "base/uuid.h"
#include "report/counts_format.h"
#include "report/duration_buckets.h"

namespace jankbox {
namespace {

constexpr size_t kMaxTextBytes = 256;
// No device comes near: sums of what is accepted stay far below the limits of the numbers.
constexpr uint64_t kMaxIncidents = uint64_t{1} << 40;
constexpr uint64_t kMaxTotalNs = uint64_t{1} << 60;
constexpr uint64_t kMaxSeq = uint64_t{1} << 62;

Status Wrong(const char* what) { return Status(StatusCode::kInvalidArgument, what); }

Status CheckBuckets(const proto::Counter& counter) {
  uint64_t incidents = 0;
  uint32_t next = 0;
  for (const proto::CounterBucket& bucket : counter.buckets()) {
    if (bucket.index() < next || bucket.index() >= kDurationBuckets) {
      return Wrong("the buckets of a counter are not in order");
    }
    if (bucket.incidents() > kMaxIncidents) return Wrong("a bucket has too many incidents");
    next = bucket.index() + 1;
    incidents += bucket.incidents();
  }
  if (incidents != counter.incidents()) return Wrong("the buckets of a counter are not its sum");
  return Status::Ok();
}

Status CheckCounter(const proto::Counter& counter) {
  for (const std::string* text :
       {&counter.version(), &counter.key(), &counter.app(), &counter.cause(), &counter.message(),
        &counter.blamed_function()}) {
    if (text->size() > kMaxTextBytes) return Wrong("a text of a counter is too long");
  }
  if (counter.key().empty()) return Wrong("a counter has no key");
  if (counter.incidents() == 0 || counter.incidents() > kMaxIncidents) {
    return Wrong("a counter has no incidents, or too many");
  }
  if (counter.total_ns() > kMaxTotalNs || counter.max_ns() > counter.total_ns()) {
    return Wrong("the durations of a counter cannot be true");
  }
  return CheckBuckets(counter);
}

Status CheckUsage(const proto::Usage& usage) {
  if (usage.app().size() > kMaxTextBytes || usage.version().size() > kMaxTextBytes) {
    return Wrong("a text of usage is too long");
  }
  for (const uint64_t number :
       {usage.foreground_ms(), usage.sessions(), usage.frames(), usage.messages()}) {
    if (number > kMaxUsageNumber) return Wrong("the numbers of usage cannot be true");
  }
  if (usage.day() > kMaxUsageDay) return Wrong("the day of usage cannot be true");
  return Status::Ok();
}

Status CheckAllUsage(const proto::Counts& counts) {
  if (counts.usage_seq() > counts.seq() || counts.usage_base_seq() > counts.seq()) {
    return Wrong("the sequence numbers of usage cannot be true");
  }
  if (counts.usage().empty()) return Status::Ok();
  if (counts.usage_size() > static_cast<int>(kMaxUsage) + 1) return Wrong("too much usage");
  if (!IsUuid(counts.installation())) return Wrong("the installation is no UUID");
  std::set<std::tuple<uint32_t, std::string, std::string>> rows;
  for (const proto::Usage& usage : counts.usage()) {
    const Status status = CheckUsage(usage);
    if (!status.ok()) return status;
    if (!rows.emplace(usage.day(), usage.app(), usage.version()).second) {
      return Wrong("two rows of usage have the same day, app and version");
    }
  }
  return Status::Ok();
}

}  // namespace

Result<proto::Counts> ParseCounts(std::string_view bytes) {
  proto::Counts counts;
  if (bytes.size() > kMaxCountsBytes ||
      !counts.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return Wrong("not a message of counts");
  }
  if (counts.format() != kCountsFormat) return Wrong("counts of an unknown format");
  if (!IsUuid(counts.epoch())) return Wrong("the epoch is no UUID");
  if (counts.seq() == 0 || counts.seq() > kMaxSeq || counts.base_seq() > counts.seq()) {
    return Wrong("the sequence numbers cannot be true");
  }
  if (counts.begun().size() > kMaxTextBytes) return Wrong("a text is too long");
  if (counts.counters_size() > static_cast<int>(kMaxCounters) + 1)
    return Wrong("too many counters");
  std::set<std::pair<std::string, std::string>> keys;
  for (const proto::Counter& counter : counts.counters()) {
    const Status status = CheckCounter(counter);
    if (!status.ok()) return status;
    if (!keys.emplace(counter.version(), counter.key()).second) {
      return Wrong("two counters have the same version and key");
    }
  }
  const Status usage = CheckAllUsage(counts);
  if (!usage.ok()) return usage;
  return counts;
}

}  // namespace jankbox

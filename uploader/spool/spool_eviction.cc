#include "uploader/spool/spool_eviction.h"

#include "base/clock.h"
#include "base/compact_sort.h"

namespace jankbox {
namespace {

// The contents of the folder after the plan so far.
struct Usage {
  uint64_t count = 0;
  uint64_t bytes = 0;
  uint64_t free_bytes = 0;
};

// kKept if all limits are respected.
SpoolFate BrokenLimit(const Usage& usage, const SpoolLimits& limits, const SpoolDemand& demand) {
  if (usage.count > limits.max_reports) return SpoolFate::kQuotaCount;
  if (usage.bytes > limits.max_bytes) return SpoolFate::kQuotaBytes;
  // With nothing to come, a full disk is no reason to give up what is safe on it.
  if (demand.incoming_bytes > 0 &&
      (usage.free_bytes < limits.min_free_bytes ||
       usage.free_bytes - limits.min_free_bytes < demand.incoming_bytes)) {
    return SpoolFate::kFreeSpace;
  }
  return SpoolFate::kKept;
}

std::vector<size_t> OldestFirst(const std::vector<SpoolRecord>& records,
                                const std::string& replaces_id) {
  std::vector<size_t> order;
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].fate == SpoolFate::kKept && records[i].id != replaces_id) order.push_back(i);
  }
  CompactSort(&order, [&records](size_t a, size_t b) {
    if (records[a].age_ns != records[b].age_ns) return records[a].age_ns > records[b].age_ns;
    return records[a].id < records[b].id;  // time-ordered
  });
  return order;
}

}  // namespace

EvictionPlan PlanEvictions(const std::vector<SpoolRecord>& records, const SpoolLimits& limits,
                           const SpoolDemand& demand) {
  EvictionPlan plan;
  const std::vector<size_t> order = OldestFirst(records, demand.replaces_id);
  Usage usage;
  usage.count = demand.in_flight_count + demand.incoming_count;
  usage.bytes = demand.in_flight_bytes + demand.quarantined_bytes + demand.incoming_bytes;
  usage.free_bytes = demand.free_bytes;
  size_t next = 0;
  for (; next < order.size(); ++next) {
    const SpoolRecord& oldest = records[order[next]];
    if (oldest.age_ns / kNsPerSecond < limits.max_age_s) break;
    plan.evictions.push_back({order[next], SpoolFate::kAge});
    usage.free_bytes += oldest.file.size_bytes;
  }
  for (size_t i = next; i < order.size(); ++i) {
    ++usage.count;
    usage.bytes += records[order[i]].file.size_bytes;
  }
  const size_t expired = plan.evictions.size();

  SpoolFate broken = BrokenLimit(usage, limits, demand);
  if (demand.quarantined_bytes > 0 && broken != SpoolFate::kKept &&
      broken != SpoolFate::kQuotaCount) {
    plan.drop_quarantined = true;
    usage.bytes -= demand.quarantined_bytes;
    usage.free_bytes += demand.quarantined_bytes;
    broken = BrokenLimit(usage, limits, demand);
  }
  while (broken != SpoolFate::kKept && next < order.size()) {
    const uint64_t bytes = records[order[next]].file.size_bytes;
    plan.evictions.push_back({order[next++], broken});
    --usage.count;
    usage.bytes -= bytes;
    usage.free_bytes += bytes;
    broken = BrokenLimit(usage, limits, demand);
  }
  if (broken != SpoolFate::kKept) {
    plan.fits = false;
    plan.drop_quarantined = false;
    plan.evictions.resize(expired);
  }
  return plan;
}

}  // namespace jankbox

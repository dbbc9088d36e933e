#include "monitors/incident/refusals.h"

namespace jankbox {

const char* RefusalReasonName(RefusalReason reason) {
  static constexpr const char* kNames[] = {
      "stopped",       "suspended",   "traced",     "watcher_late", "background",
      "not_rendering", "bad_metrics", "daily_cap",  "fingerprint",  "veto",
      "queue_full",    "no_space",    "over_budget"};
  static_assert(std::size(kNames) == kRefusalReasons);
  return kNames[static_cast<size_t>(reason)];
}

std::vector<RefusalCount> Refusals::Counts() const {
  std::vector<RefusalCount> counts;
  for (size_t i = 0; i < kRefusalReasons; ++i) {
    const uint64_t count = entries_[i].count.load(std::memory_order_relaxed);
    if (count == 0) continue;
    counts.push_back({static_cast<RefusalReason>(i), count,
                      entries_[i].last_ns.load(std::memory_order_relaxed)});
  }
  return counts;
}

}  // namespace jankbox

#include "monitors/incident/held_time.h"

#include <algorithm>

namespace jankbox {

RefusalReason HeldTime::Main() const {
  const uint64_t asleep = suspended_ns + beyond_ns;
  const uint64_t most = std::max({asleep, stopped_ns, traced_ns, late_ns});
  if (most == late_ns) return RefusalReason::kWatcherLate;
  if (most == asleep) return RefusalReason::kSuspended;
  return most == stopped_ns ? RefusalReason::kStopped : RefusalReason::kTraced;
}

void HoldHistory::Add(Hold hold) {
  if (hold.reason != RefusalReason::kWatcherLate) {
    hold.from_ns = std::max(hold.from_ns, held_until_ns_);
    held_until_ns_ = std::max(held_until_ns_, hold.to_ns);
  }
  if (hold.from_ns > hold.to_ns || (hold.from_ns == hold.to_ns && hold.beyond_ns == 0)) return;
  Hold* const last = added_ == 0 ? nullptr : &holds_[(added_ - 1) % kMaxHolds];
  if (last != nullptr && last->reason == hold.reason && last->to_ns == hold.from_ns) {
    last->to_ns = hold.to_ns;
    last->beyond_ns += hold.beyond_ns;
    return;
  }
  holds_[added_++ % kMaxHolds] = hold;
}

HeldTime HoldHistory::Within(uint64_t from_ns, uint64_t to_ns) const {
  HeldTime held;
  for (size_t i = first(); i < added_; ++i) {
    const Hold& hold = holds_[i % kMaxHolds];
    if (hold.to_ns < from_ns || hold.from_ns > to_ns) continue;
    held.beyond_ns += hold.beyond_ns;
    const uint64_t inside = std::min(hold.to_ns, to_ns) - std::max(hold.from_ns, from_ns);
    switch (hold.reason) {
      case RefusalReason::kSuspended:
        held.suspended_ns += inside;
        break;
      case RefusalReason::kTraced:
        held.traced_ns += inside;
        break;
      case RefusalReason::kWatcherLate:
        held.late_ns += inside;
        break;
      default:
        held.stopped_ns += inside;
        break;
    }
  }
  return held;
}

}  // namespace jankbox

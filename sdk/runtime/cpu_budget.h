// An account of CPU time (decision 6). The budget's share of a core is paid in. The CPU time of
// Jankbox's threads, and what recording costs the app's threads by estimate, is taken out. Pure.
// One thread at a time; NO-ALLOC.
#ifndef JANKBOX_SDK_RUNTIME_CPU_BUDGET_H_
#define JANKBOX_SDK_RUNTIME_CPU_BUDGET_H_

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace jankbox {

class CpuBudget {
 public:
  // The credit of a start, for its first incidents: what is left of it after kBurstTimeNs is lost.
  static constexpr uint64_t kBurstNs = 300 * kNsPerMs;
  static constexpr uint64_t kBurstTimeNs = 10 * kNsPerSecond;
  // The most that is saved later on: an incident that comes alone is sampled and sealed in full.
  static constexpr uint64_t kSavedNs = 20 * kNsPerMs;
  // No more is owed than the budget of this time: a minute without cost pays all of it.
  static constexpr uint64_t kDebtTimeNs = 60 * kNsPerSecond;

  // `permille`: of one core. 0: no budget.
  CpuBudget(uint32_t permille, uint64_t now_ns)
      : permille_(permille),
        burst_ends_ns_(now_ns + kBurstTimeNs),
        looked_ns_(now_ns),
        credit_ns_(kBurstNs) {}

  // `used_ns`: all that was used since the start. True: more than was there.
  bool IsOverdrawn(uint64_t now_ns, uint64_t used_ns) {
    if (permille_ == 0) return false;
    const auto most = static_cast<int64_t>(now_ns < burst_ends_ns_ ? kBurstNs : kSavedNs);
    const int64_t used = static_cast<int64_t>(used_ns - used_ns_);
    credit_ns_ =
        std::clamp(credit_ns_ + Share(now_ns - looked_ns_) - used, -Share(kDebtTimeNs), most);
    looked_ns_ = now_ns;
    used_ns_ = used_ns;
    return credit_ns_ < 0;
  }

  // When what is owed will be paid if nothing more is used; 0: nothing is owed.
  uint64_t PaidAtNs() const {
    if (credit_ns_ >= 0) return 0;
    return looked_ns_ + static_cast<uint64_t>(-credit_ns_) * kParts / (kPaid * permille_) * 1000;
  }

 private:
  // So much of the budget is paid in: with what was saved, and the last report that was begun in
  // time, no minute is above it.
  static constexpr uint64_t kPaid = 7;
  static constexpr uint64_t kParts = 8;

  int64_t Share(uint64_t ns) const {
    return static_cast<int64_t>(ns / 1000 * permille_ * kPaid / kParts);
  }

  const uint32_t permille_;
  const uint64_t burst_ends_ns_;
  uint64_t looked_ns_;
  int64_t credit_ns_;
  uint64_t used_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_CPU_BUDGET_H_

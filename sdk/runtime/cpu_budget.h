// What Jankbox may still use of the CPU (decision 6): its share of a core fills an account, and
// what its threads use and recording costs the app's is taken from it. Pure. Sealing thread;
// NO-ALLOC.
#ifndef JANKBOX_SDK_RUNTIME_CPU_BUDGET_H_
#define JANKBOX_SDK_RUNTIME_CPU_BUDGET_H_

#include <algorithm>
#include <cstdint>

#include "base/clock.h"

namespace jankbox {

class CpuBudget {
 public:
  // What a start has, and the most that is saved up: the first incidents are told in full.
  static constexpr uint64_t kBurstNs = 300 * kNsPerMs;
  // The most that is owed: a minute without debts pays all of it.
  static constexpr uint64_t kMaxDebtNs = 60 * kNsPerSecond;  // of the budget's time

  // `permille`: of one core. 0: no budget.
  CpuBudget(uint32_t permille, uint64_t now_ns)
      : permille_(permille), looked_ns_(now_ns), credit_ns_(kBurstNs) {}

  // `used_ns`: CPU time since the start of all that counts. True: more than there was.
  bool IsOverdrawn(uint64_t now_ns, uint64_t used_ns) {
    if (permille_ == 0) return false;
    constexpr auto kMost = static_cast<int64_t>(kBurstNs);
    const int64_t credit_ns = std::min(credit_ns_ + Share(now_ns - looked_ns_), kMost);
    credit_ns_ = std::max(credit_ns - static_cast<int64_t>(used_ns - used_ns_), -Share(kMaxDebtNs));
    looked_ns_ = now_ns;
    used_ns_ = used_ns;
    return credit_ns_ < 0;
  }

 private:
  int64_t Share(uint64_t ns) const { return static_cast<int64_t>(ns / 1000 * permille_); }

  const uint32_t permille_;
  uint64_t looked_ns_;
  int64_t credit_ns_;
  uint64_t used_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_CPU_BUDGET_H_

#include "sdk/runtime/cpu_budget.h"

#include <gtest/gtest.h>

#include <vector>

namespace jankbox {
namespace {

constexpr uint64_t kStart = 5 * kNsPerSecond;

// 1 % of a core, of which `used_ms` are used by `second`.
struct Account {
  bool Overdrawn(uint64_t second, uint64_t used_ms) {
    return budget.IsOverdrawn(kStart + second * kNsPerSecond, used_ms * kNsPerMs);
  }
  CpuBudget budget{10, kStart};
};

TEST(CpuBudget, StartHasABurst) {
  Account account;
  EXPECT_FALSE(account.Overdrawn(0, 0));
  EXPECT_FALSE(account.Overdrawn(0, 300));
  EXPECT_TRUE(account.Overdrawn(0, 301));
}

TEST(CpuBudget, ShareOfACoreIsEarned) {
  Account account;
  EXPECT_TRUE(account.Overdrawn(0, 315));
  EXPECT_TRUE(account.Overdrawn(1, 315));
  EXPECT_FALSE(account.Overdrawn(2, 315)) << "17.5 ms in 2 s";
  // 8 ms a second are what it may use.
  for (uint64_t second = 3; second < 100; ++second) {
    EXPECT_FALSE(account.Overdrawn(second, 315 + 8 * (second - 2)));
  }
  EXPECT_TRUE(account.Overdrawn(100, 315 + 8 * 98 + 50));
}

TEST(CpuBudget, NoMinuteAfterTheBurstIsAboveIt) {
  Account account;
  uint64_t used_ms = 0;
  std::vector<uint64_t> used_by_second;
  for (uint64_t second = 0; second < 300; ++second) {
    used_ms += account.Overdrawn(second, used_ms) ? 2 : 30;
    used_by_second.push_back(used_ms);
    if (second < 70) continue;
    EXPECT_LE(used_ms - used_by_second[second - 60], 600u) << second;
  }
  EXPECT_GT(used_ms, 300 + 290 * 8) << "it is used";
}

TEST(CpuBudget, LittleIsSavedAfterTheBurst) {
  Account account;
  EXPECT_FALSE(account.Overdrawn(9, 0));
  EXPECT_FALSE(account.Overdrawn(9, 300));
  EXPECT_FALSE(account.Overdrawn(3600, 300));
  EXPECT_FALSE(account.Overdrawn(3600, 320));
  EXPECT_TRUE(account.Overdrawn(3600, 321));
}

TEST(CpuBudget, DebtIsPaidWithinAMinute) {
  Account account;
  EXPECT_TRUE(account.Overdrawn(0, 100'000));
  EXPECT_TRUE(account.Overdrawn(59, 100'000));
  EXPECT_FALSE(account.Overdrawn(60, 100'000));
}

TEST(CpuBudget, DebtIsKnownToBePaidWhenItIs) {
  Account account;
  EXPECT_TRUE(account.Overdrawn(0, 335));
  EXPECT_EQ(account.budget.PaidAtNs(), kStart + 4 * kNsPerSecond) << "35 ms at 8.75 a second";
  EXPECT_FALSE(account.Overdrawn(4, 335));
  EXPECT_EQ(account.budget.PaidAtNs(), 0u);
}

TEST(CpuBudget, NoBudgetIsNeverOverdrawn) {
  CpuBudget budget(0, kStart);
  EXPECT_FALSE(budget.IsOverdrawn(kStart, 1'000'000 * kNsPerMs));
}

}  // namespace
}  // namespace jankbox

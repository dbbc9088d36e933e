#include "sdk/runtime/cpu_budget.h"

#include <gtest/gtest.h>

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
  EXPECT_TRUE(account.Overdrawn(0, 320));
  EXPECT_TRUE(account.Overdrawn(1, 320));
  EXPECT_FALSE(account.Overdrawn(2, 320)) << "20 ms in 2 s";
  // 10 ms a second are what it may use.
  for (uint64_t second = 3; second < 100; ++second) {
    EXPECT_FALSE(account.Overdrawn(second, 320 + 10 * (second - 2)));
  }
  EXPECT_TRUE(account.Overdrawn(100, 320 + 10 * 98 + 1));
}

TEST(CpuBudget, NoMoreThanABurstIsSaved) {
  Account account;
  EXPECT_FALSE(account.Overdrawn(3600, 0));
  EXPECT_FALSE(account.Overdrawn(3600, 300));
  EXPECT_TRUE(account.Overdrawn(3600, 301));
}

TEST(CpuBudget, DebtIsPaidWithinAMinute) {
  Account account;
  EXPECT_TRUE(account.Overdrawn(0, 100'000));
  EXPECT_TRUE(account.Overdrawn(59, 100'000));
  EXPECT_FALSE(account.Overdrawn(60, 100'000));
}

TEST(CpuBudget, DebtIsKnownToBePaidWhenItIs) {
  Account account;
  EXPECT_TRUE(account.Overdrawn(0, 350));
  EXPECT_EQ(account.budget.PaidAtNs(), kStart + 5 * kNsPerSecond) << "50 ms at 1 %";
  EXPECT_FALSE(account.Overdrawn(5, 350));
  EXPECT_EQ(account.budget.PaidAtNs(), 0u);
}

TEST(CpuBudget, NoBudgetIsNeverOverdrawn) {
  CpuBudget budget(0, kStart);
  EXPECT_FALSE(budget.IsOverdrawn(kStart, 1'000'000 * kNsPerMs));
}

}  // namespace
}  // namespace jankbox

#include "uploader/policy/upload_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace jankbox {
namespace {

constexpr uint64_t kDayMs = 86'400'000;
constexpr uint64_t kNowMs = 20'000 * kDayMs + 3'600'000;
constexpr uint64_t kYearMs = 365 * kDayMs;
constexpr uint64_t kMiB = 1 << 20;

TEST(BackoffMs, DoublesUpToTheCap) {
  struct {
    uint32_t failures;
    uint64_t ceiling_ms;
  } const cases[] = {{1, 1'000},
                     {2, 2'000},
                     {3, 4'000},
                     {12, 2'048'000},
                     {13, 3'600'000},
                     {40, 3'600'000},
                     {UINT32_MAX, 3'600'000}};
  for (const auto& c : cases) {
    EXPECT_EQ(BackoffMs(c.failures, c.ceiling_ms), c.ceiling_ms) << c.failures;
    EXPECT_EQ(BackoffMs(c.failures, c.ceiling_ms + 1), 0u) << c.failures;
    EXPECT_LE(BackoffMs(c.failures, UINT64_MAX), c.ceiling_ms) << c.failures;
  }
}

TEST(BackoffMs, SpreadsAHerd) {
  // 10,000 clients whose server came back: no tenth of the hour sees more than twice the mean.
  std::vector<int> tenths(10);
  uint64_t random = 88172645463325252;
  for (int client = 0; client < 10'000; ++client) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    ++tenths[BackoffMs(20, random) * 10 / (kBackoffCapMs + 1)];
  }
  EXPECT_LT(*std::max_element(tenths.begin(), tenths.end()), 2000);
}

TEST(UploadPace, FailureWaitsAndSuccessForgets) {
  UploadPace pace;
  EXPECT_EQ(WaitMs(pace, kNowMs, false), 0u);
  NoteFailure(&pace, kNowMs, std::nullopt, 700);
  EXPECT_EQ(WaitMs(pace, kNowMs, false), 700u);
  EXPECT_EQ(WaitMs(pace, kNowMs, true), 0u);
  EXPECT_EQ(WaitMs(pace, kNowMs + 699, false), 1u);
  EXPECT_EQ(WaitMs(pace, kNowMs + 700, false), 0u);
  NoteFailure(&pace, kNowMs, std::nullopt, 1'500);
  EXPECT_EQ(WaitMs(pace, kNowMs, false), 1'500u);
  NoteSuccess(&pace);
  EXPECT_EQ(WaitMs(pace, kNowMs, false), 0u);
  EXPECT_EQ(pace.failures, 0u);
}

TEST(UploadPace, ServersRetryAfterAppliesToEveryUpload) {
  UploadPace pace;
  NoteFailure(&pace, kNowMs, 120, 700);
  EXPECT_EQ(WaitMs(pace, kNowMs, false), 120'000u);
  EXPECT_EQ(WaitMs(pace, kNowMs, true), 120'000u);
  NoteFailure(&pace, kNowMs, std::nullopt, 700);
  EXPECT_EQ(WaitMs(pace, kNowMs, true), 0u);
}

TEST(UploadPace, ClockSetBackWaitsNoLongerThanWasAsked) {
  UploadPace pace;
  NoteFailure(&pace, kNowMs + 10 * kYearMs, 120, 700);
  FitToClock(&pace, kNowMs);
  EXPECT_EQ(WaitMs(pace, kNowMs, true), kDayMs);
  EXPECT_EQ(WaitMs(pace, kNowMs + kDayMs, false), 0u);
}

TEST(UploadPace, FitToClockLeavesWhatIsPossible) {
  UploadPace pace;
  NoteFailure(&pace, kNowMs, 120, 700);
  FitToClock(&pace, kNowMs);
  EXPECT_EQ(WaitMs(pace, kNowMs, false), 120'000u);
}

TEST(UploadBudget, AppliesForTheDay) {
  UploadPace pace;
  const UploadBudget budget;
  EXPECT_TRUE(BudgetAllows(pace, budget, true, kNowMs, kMiB));
  EXPECT_FALSE(BudgetAllows(pace, budget, true, kNowMs, kMiB + 1));
  EXPECT_FALSE(BudgetAllows(pace, budget, false, kNowMs, 5 * kMiB + 1));
  NoteSpent(&pace, kNowMs, kMiB);
  EXPECT_FALSE(BudgetAllows(pace, budget, true, kNowMs, 1));
  EXPECT_TRUE(BudgetAllows(pace, budget, false, kNowMs, 4 * kMiB));
  NoteSpent(&pace, kNowMs, 4 * kMiB);
  EXPECT_FALSE(BudgetAllows(pace, budget, false, kNowMs, 1));
  EXPECT_FALSE(BudgetAllows(pace, budget, true, kNowMs, 1));
  EXPECT_TRUE(BudgetAllows(pace, budget, true, kNowMs + kDayMs, kMiB));
  NoteSpent(&pace, kNowMs + kDayMs, kMiB);
  EXPECT_FALSE(BudgetAllows(pace, budget, true, kNowMs + kDayMs, 1));
}

TEST(UploadBudget, NextDayBeginsAtMidnight) {
  EXPECT_EQ(NextDayMs(kNowMs), kDayMs - 3'600'000);
  EXPECT_EQ(NextDayMs(20'000 * kDayMs), kDayMs);
}

TEST(UploadBudget, ClockSetBackNeitherRenewsNorBlocksForYears) {
  UploadPace pace;
  const UploadBudget budget;
  NoteSpent(&pace, kNowMs, kMiB);
  EXPECT_FALSE(BudgetAllows(pace, budget, true, kNowMs - 2 * 3'600'000, 1));  // the day before
  EXPECT_TRUE(BudgetAllows(pace, budget, true, kNowMs - 10 * kYearMs, 1));
}

TEST(UploadPace, RoundTripKeepsEverything) {
  const UploadPace pace{1, 2, UINT64_MAX, 4, 5, 6, 7, 8};
  const UploadPace decoded = DecodeUploadPace(EncodeUploadPace(pace));
  EXPECT_EQ(decoded.failures, 1u);
  EXPECT_EQ(decoded.not_before_ms, 2u);
  EXPECT_EQ(decoded.server_says_ms, UINT64_MAX);
  EXPECT_EQ(decoded.day, 4u);
  EXPECT_EQ(decoded.day_bytes, 5u);
  EXPECT_EQ(decoded.counts_not_before_ms, 6u);
  EXPECT_EQ(decoded.usage_ms, 7u);
  EXPECT_EQ(decoded.usage_bytes, 8u);
}

TEST(UsageAllowance, IsAKibibyteADayInSomeMessages) {
  UploadPace pace;
  EXPECT_EQ(UsageAllowance(pace, kNowMs), 1024u);
  NoteUsageSent(&pace, kNowMs, 300);
  EXPECT_EQ(UsageAllowance(pace, kNowMs + kUsageEveryMs - 1), 0u);
  EXPECT_EQ(UsageAllowance(pace, kNowMs + kUsageEveryMs), 724u);
  NoteUsageSent(&pace, kNowMs + kUsageEveryMs, 724);
  EXPECT_EQ(UsageAllowance(pace, kNowMs + 2 * kUsageEveryMs), 0u);
  const uint64_t midnight_ms = kNowMs + NextDayMs(kNowMs);
  EXPECT_EQ(UsageAllowance(pace, midnight_ms - 1), 0u);
  EXPECT_EQ(UsageAllowance(pace, midnight_ms), 1024u);
}

TEST(UsageAllowance, ClockSetBackNeitherRenewsNorBlocksForYears) {
  UploadPace pace;
  NoteUsageSent(&pace, kNowMs, 300);
  EXPECT_EQ(UsageAllowance(pace, kNowMs - 2 * 3'600'000), 0u) << "the day before";
  EXPECT_EQ(UsageAllowance(pace, kNowMs - 10 * kYearMs), 1024u);
  NoteUsageSent(&pace, kNowMs - 10 * kYearMs, 1000);
  EXPECT_EQ(UsageAllowance(pace, kNowMs - 10 * kYearMs + kUsageEveryMs), 24u);
}

TEST(UploadPace, DamagedBytesAreAFreshPace) {
  for (const char* bytes : {"", "\x08", "\x0b\x01", "garbage", "\x08\x01\x10"}) {
    EXPECT_EQ(DecodeUploadPace(bytes).failures, 0u);
  }
}

}  // namespace
}  // namespace jankbox

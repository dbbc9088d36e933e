#include "sdk/runtime/governor.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace jankbox {
namespace {

// An app whose threads record at a rate, checked once a second.
class GovernorTest : public testing::Test {
 protected:
  // One second in which exact recording would cost `exact_permille` of a core, and Jankbox's
  // threads cost `own_permille`.
  RecordMode Second(uint64_t exact_permille, uint64_t own_permille = 1) {
    constexpr uint64_t kPermilleNs = kNsPerSecond / 1000;
    reading_.now_ns += kNsPerSecond;
    reading_.own_cpu_ns += own_permille * kPermilleNs;
    reading_.exact_ns += exact_permille * kPermilleNs;
    switch (governor_.mode()) {
      case RecordMode::kExact:
        reading_.recorded_ns += exact_permille * kPermilleNs;
        break;
      case RecordMode::kCoarse:
        reading_.recorded_ns += exact_permille * kPermilleNs / 4;
        reading_.tick_cpu_ns += 4 * kPermilleNs;
        break;
      default:
        break;
    }
    return governor_.Look(reading_);
  }
  RecordMode Seconds(int seconds, uint64_t exact_permille) {
    while (seconds-- > 0) Second(exact_permille);
    return governor_.mode();
  }

  Governor governor_{10};
  Governor::Reading reading_{.now_ns = 5 * kNsPerSecond};
};

TEST_F(GovernorTest, WithinBudgetItStaysExact) {
  EXPECT_EQ(Seconds(1000, 8), RecordMode::kExact);
  EXPECT_NEAR(governor_.cost_permille(), 9, 0.01);
}

TEST_F(GovernorTest, OneSecondOverBudgetIsNoReason) {
  Seconds(10, 1);
  EXPECT_EQ(Second(500), RecordMode::kExact);
  EXPECT_EQ(Seconds(5, 1), RecordMode::kExact);
}

TEST_F(GovernorTest, FloodsStepDownInOrderAndNoFurtherThanNeeded) {
  EXPECT_EQ(Seconds(6, 15), RecordMode::kCoarse);
  EXPECT_EQ(Seconds(100, 15), RecordMode::kCoarse);  // 15/4 + 4 + 1 is within 10
}

TEST_F(GovernorTest, LargeFloodsStepOnToTheUiThread) {
  EXPECT_EQ(Seconds(4, 200), RecordMode::kCoarse);
  EXPECT_EQ(Seconds(2, 200), RecordMode::kWatchedOnly);
}

TEST_F(GovernorTest, WhenTheFloodIsOverItStepsUpAgain) {
  Seconds(6, 200);
  ASSERT_EQ(governor_.mode(), RecordMode::kWatchedOnly);
  EXPECT_EQ(Seconds(9, 0), RecordMode::kWatchedOnly);
  EXPECT_EQ(Seconds(3, 0), RecordMode::kCoarse);
  EXPECT_EQ(Seconds(12, 0), RecordMode::kExact);
}

TEST_F(GovernorTest, AStepUpThatWasTooMuchWaitsTwiceAsLong) {
  Seconds(4, 200);
  ASSERT_EQ(governor_.mode(), RecordMode::kCoarse);
  // In the coarse mode and below the flood hides: every try upwards shows it again.
  int tries = 0;
  RecordMode last = governor_.mode();
  for (int second = 0; second < 300; ++second) {
    const RecordMode now = Second(governor_.mode() == RecordMode::kExact ? 200 : 0);
    tries += now == RecordMode::kExact && last != RecordMode::kExact ? 1 : 0;
    last = now;
  }
  EXPECT_GE(tries, 3);
  EXPECT_LE(tries, 6);
}

TEST_F(GovernorTest, SamplingAndSealingAreNoReasonToRecordLess) {
  for (int second = 0; second < 20; ++second) {
    EXPECT_EQ(Second(1, 60), RecordMode::kExact);
  }
}

TEST_F(GovernorTest, WithoutABudgetNothingChanges) {
  Governor unbounded(0);
  Governor::Reading reading;
  for (int second = 1; second < 20; ++second) {
    reading.now_ns = second * kNsPerSecond;
    reading.recorded_ns = reading.now_ns;
    EXPECT_EQ(unbounded.Look(reading), RecordMode::kExact);
  }
  EXPECT_NEAR(unbounded.cost_permille(), 1000, 1);
}

}  // namespace
}  // namespace jankbox

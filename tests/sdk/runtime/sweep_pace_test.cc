#include "sdk/runtime/sweep_pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

// Sweeps whenever one is due, until `until_s`; returns when, in seconds.
std::vector<uint64_t> Sweeps(SweepPace* pace, bool may_slow_down, uint64_t until_s) {
  std::vector<uint64_t> at;
  for (uint64_t s = pace->DueNs(may_slow_down) / kNsPerSecond; s <= until_s;
       s = pace->DueNs(may_slow_down) / kNsPerSecond) {
    EXPECT_EQ(pace->Sweeps(s * kNsPerSecond), at.empty());
    at.push_back(s);
  }
  return at;
}

TEST(SweepPaceTest, IdleProcessIsAskedOnceInTheLastFiftySecondsOfItsFirstMinute) {
  SweepPace pace;
  EXPECT_TRUE(pace.first());
  pace.Sweeps(kNsPerSecond);
  pace.Busy();
  EXPECT_FALSE(pace.first());
  EXPECT_THAT(Sweeps(&pace, true, 400), ElementsAre(2, 18, 82, 146, 210, 274, 338));
}

TEST(SweepPaceTest, ActivityMakesOneDueASecondAfterTheLast) {
  SweepPace pace;
  pace.Sweeps(kNsPerSecond);
  pace.Busy();
  Sweeps(&pace, true, 10);
  ASSERT_EQ(pace.DueNs(true), 18 * kNsPerSecond);
  pace.Busy();
  EXPECT_EQ(pace.DueNs(true), 3 * kNsPerSecond);
}

TEST(SweepPaceTest, StaysAtASecondWhereSomethingHasToBeNoticed) {
  SweepPace pace;
  pace.Sweeps(kNsPerSecond);
  pace.Busy();
  EXPECT_THAT(Sweeps(&pace, false, 60), SizeIs(59));
}

TEST(SweepPaceTest, FilesAreReadEveryFourSeconds) {
  SweepPace pace;
  std::vector<uint64_t> read;
  for (uint64_t s = 1; s < 12; ++s) {
    pace.Sweeps(s * kNsPerSecond);
    if (pace.ReadsFiles(true)) read.push_back(s);
    pace.Busy();
  }
  EXPECT_THAT(read, ElementsAre(1, 5, 9));
}

TEST(SweepPaceTest, FirstBusySweepAfterAnIdleOneReadsFiles) {
  SweepPace pace;
  pace.Sweeps(kNsPerSecond);
  EXPECT_TRUE(pace.ReadsFiles(true));
  pace.Sweeps(5 * kNsPerSecond);
  EXPECT_TRUE(pace.ReadsFiles(false));
  pace.Sweeps(6 * kNsPerSecond);
  EXPECT_TRUE(pace.ReadsFiles(true));
  pace.Sweeps(7 * kNsPerSecond);
  EXPECT_FALSE(pace.ReadsFiles(false));
}

}  // namespace
}  // namespace jankbox

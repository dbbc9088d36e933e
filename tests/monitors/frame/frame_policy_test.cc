#include "monitors/frame/frame_policy.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr uint64_t k60 = kReferenceIntervalNs;

FrameTimes Frame(uint64_t interval_ns, uint64_t total_ns) {
  return {1'000'000'000, 0, interval_ns, 1'000'100'000, 1'000'000'000 + total_ns};
}

TEST(DroppedIntervals, IsTotalLessOneIntervalInWholeIntervals) {
  EXPECT_EQ(DroppedIntervals(Frame(k60, k60 / 2)), 0u);
  EXPECT_EQ(DroppedIntervals(Frame(k60, k60)), 0u);
  EXPECT_EQ(DroppedIntervals(Frame(k60, 2 * k60 - 1)), 0u);
  EXPECT_EQ(DroppedIntervals(Frame(k60, 2 * k60)), 1u);
  EXPECT_EQ(DroppedIntervals(Frame(k60, 43 * k60)), 42u);
}

TEST(DroppedIntervals, WithoutVsyncTheStartCounts) {
  FrameTimes frame = Frame(k60, 10 * k60);
  frame.vsync_ns = 0;
  EXPECT_EQ(DroppedIntervals(frame), 8u);  // 0.1 ms less
}

TEST(BandOf, HasMatrixBandsAt60Hz) {
  const struct {
    uint64_t dropped;
    FrameBand band;
  } cases[] = {{0, FrameBand::kBest},   {2, FrameBand::kBest},   {3, FrameBand::kNormal},
               {8, FrameBand::kNormal}, {9, FrameBand::kMiddle}, {23, FrameBand::kMiddle},
               {24, FrameBand::kHigh},  {41, FrameBand::kHigh},  {42, FrameBand::kFrozen}};
  for (const auto& c : cases) EXPECT_EQ(BandOf(c.dropped, k60), c.band) << c.dropped;
}

TEST(BandOf, ScalesWithTheRefreshRate) {
  const uint64_t k120 = k60 / 2, k30 = k60 * 2;
  EXPECT_EQ(BandOf(5, k120), FrameBand::kBest);
  EXPECT_EQ(BandOf(6, k120), FrameBand::kNormal);
  EXPECT_EQ(BandOf(17, k120), FrameBand::kNormal);
  EXPECT_EQ(BandOf(18, k120), FrameBand::kMiddle);
  EXPECT_EQ(BandOf(84, k120), FrameBand::kFrozen);
  EXPECT_EQ(BandOf(21, k30), FrameBand::kFrozen);
  EXPECT_EQ(BandOf(20, k30), FrameBand::kHigh);
}

TEST(IsPlausible, RefusesNumbersThatAreNoFrame) {
  EXPECT_TRUE(IsPlausible(Frame(k60, k60)));
  EXPECT_FALSE(IsPlausible(Frame(0, k60)));
  EXPECT_FALSE(IsPlausible(Frame(500, k60)));             // 2 MHz
  EXPECT_FALSE(IsPlausible(Frame(k60, 61'000'000'000)));  // overrun 9.2e18 and the like
  FrameTimes backwards = Frame(k60, k60);
  backwards.end_ns = backwards.start_ns - 1;
  EXPECT_FALSE(IsPlausible(backwards));
  EXPECT_FALSE(IsPlausible({0, 0, k60, 0, k60}));
}

}  // namespace
}  // namespace jankbox

#include "monitors/frame/frame_policy.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr uint64_t k60 = kReferenceIntervalNs;

FrameEvent Frame(uint64_t interval_ns, uint64_t total_ns) {
  return {.vsync_ns = 1'000'000'000,
          .interval_ns = interval_ns,
          .start_ns = 1'000'100'000,
          .end_ns = 1'000'000'000 + total_ns};
}

// A frame that is shown `dropped` intervals of 60 Hz too late, on a display of `hz`.
FrameEvent Dropping(double dropped, double hz) {
  const auto interval = static_cast<uint64_t>(1e9 / hz);
  return Frame(interval, interval + static_cast<uint64_t>(dropped * 1e9 / 60 + 0.5));
}

TEST(DroppedIntervals, IsTotalLessOneIntervalInWholeIntervals) {
  EXPECT_EQ(DroppedIntervals(Frame(k60, k60 / 2)), 0u);
  EXPECT_EQ(DroppedIntervals(Frame(k60, k60)), 0u);
  EXPECT_EQ(DroppedIntervals(Frame(k60, 2 * k60 - 1)), 0u);
  EXPECT_EQ(DroppedIntervals(Frame(k60, 2 * k60)), 1u);
  EXPECT_EQ(DroppedIntervals(Frame(k60, 43 * k60)), 42u);
}

TEST(DroppedIntervals, WithoutVsyncTheStartCounts) {
  FrameEvent frame = Frame(k60, 10 * k60);
  frame.vsync_ns = 0;
  EXPECT_EQ(DroppedIntervals(frame), 8u);  // 0.1 ms less
}

FrameBand BandOf(uint64_t dropped_ns) { return kFrameBands[BandIndex(dropped_ns)]; }

TEST(BandIndex, BordersAreThoseOfMatrixAtEveryRate) {
  const struct {
    double dropped;  // of 60 Hz
    FrameBand band;
  } cases[] = {{0, FrameBand::kBest},     {2.999, FrameBand::kBest},    {3, FrameBand::kNormal},
               {8, FrameBand::kNormal},   {8.999, FrameBand::kNormal},  {9, FrameBand::kMiddle},
               {23, FrameBand::kMiddle},  {23.999, FrameBand::kMiddle}, {24, FrameBand::kHigh},
               {41, FrameBand::kHigh},    {41.999, FrameBand::kHigh},   {42, FrameBand::kFrozen},
               {1000, FrameBand::kFrozen}};
  for (double hz : {30.0, 48.0, 59.94, 60.0, 90.0, 120.0, 144.0, 165.0, 240.0}) {
    for (const auto& c : cases) {
      EXPECT_EQ(BandOf(DroppedNs(Dropping(c.dropped, hz))), c.band) << c.dropped << " at " << hz;
    }
  }
}

TEST(BandIndex, IntervalsOfTheDisplayAreScaledByItsRate) {
  const uint64_t k120 = 8'333'333, k30 = 33'333'333;
  EXPECT_EQ(BandOf(5 * k120), FrameBand::kBest);
  EXPECT_EQ(BandOf(6 * k120), FrameBand::kNormal);
  EXPECT_EQ(BandOf(17 * k120), FrameBand::kNormal);
  EXPECT_EQ(BandOf(18 * k120), FrameBand::kMiddle);
  EXPECT_EQ(BandOf(84 * k120), FrameBand::kFrozen);
  EXPECT_EQ(BandOf(21 * k30), FrameBand::kFrozen);
  EXPECT_EQ(BandOf(20 * k30), FrameBand::kHigh);
}

TEST(IsJanky, BandsAreTheDefaultAndAFrozenFrameIsJankyByEveryPolicy) {
  EXPECT_FALSE(IsJanky(Dropping(8.9, 60), FramePolicy::kBands, 9));
  EXPECT_TRUE(IsJanky(Dropping(9, 60), FramePolicy::kBands, 9));
  EXPECT_TRUE(IsJanky(Frame(k60, kFrozenFrameNs), FramePolicy::kBands, 1000));
  EXPECT_FALSE(IsJanky(Frame(k60, kFrozenFrameNs - 1), FramePolicy::kBands, 1000));
  FrameEvent frozen = Frame(1'000'000'000, kFrozenFrameNs);  // one frame a second
  frozen.deadline_ns = frozen.end_ns;
  EXPECT_TRUE(IsJanky(frozen, FramePolicy::kJankStats, 9));
  EXPECT_TRUE(IsJanky(frozen, FramePolicy::kDeadline, 9));
}

TEST(IsJanky, JankStatsIsAboveTwiceTheInterval) {
  EXPECT_FALSE(IsJanky(Frame(k60, 2 * k60), FramePolicy::kJankStats, 9));
  EXPECT_TRUE(IsJanky(Frame(k60, 2 * k60 + 1), FramePolicy::kJankStats, 9));
  EXPECT_TRUE(IsJanky(Frame(k60 / 2, 2 * k60), FramePolicy::kJankStats, 9));
}

TEST(IsJanky, DeadlineIsTheFramesOwnElseOneInterval) {
  FrameEvent frame = Frame(k60, 20'000'000);
  EXPECT_TRUE(IsJanky(frame, FramePolicy::kDeadline, 9));
  frame.deadline_ns = frame.end_ns;
  EXPECT_FALSE(IsJanky(frame, FramePolicy::kDeadline, 9));
  frame.deadline_ns -= 1;
  EXPECT_TRUE(IsJanky(frame, FramePolicy::kDeadline, 9));
}

TEST(JitterNs, IsHowLateDoFrameBegan) {
  EXPECT_EQ(JitterNs(Frame(k60, k60)), 100'000u);
  FrameEvent early = Frame(k60, k60);
  early.vsync_ns = early.start_ns + 5;  // a vsync that was estimated
  EXPECT_EQ(JitterNs(early), 0u);
}

TEST(IsPlausible, RefusesNumbersThatAreNoFrame) {
  EXPECT_TRUE(IsPlausible(Frame(k60, k60)));
  EXPECT_FALSE(IsPlausible(Frame(0, k60)));
  EXPECT_FALSE(IsPlausible(Frame(500, k60)));  // 2 MHz
  EXPECT_FALSE(IsPlausible(Frame(k60, 61'000'000'000)));
  FrameEvent backwards = Frame(k60, k60);
  backwards.end_ns = backwards.start_ns - 1;
  EXPECT_FALSE(IsPlausible(backwards));
  EXPECT_FALSE(IsPlausible({.interval_ns = k60, .end_ns = k60}));
}

TEST(IsPlausible, RefusesEveryNumberThatIsNegativeOrAbsurd) {
  using Field = uint64_t FrameEvent::*;
  for (Field field : {&FrameEvent::vsync_ns, &FrameEvent::deadline_ns, &FrameEvent::interval_ns,
                      &FrameEvent::start_ns, &FrameEvent::end_ns, &FrameEvent::expected_present_ns,
                      &FrameEvent::presented_ns}) {
    for (uint64_t bad : {static_cast<uint64_t>(-1), static_cast<uint64_t>(INT64_MIN),
                         uint64_t{1} << 62, static_cast<uint64_t>(INT64_MAX)}) {
      FrameEvent frame = Frame(k60, k60);
      frame.*field = bad;
      EXPECT_FALSE(IsPlausible(frame)) << bad;
    }
  }
  FrameEvent phase = Frame(k60, k60);
  phase.phase_ns[3] = static_cast<uint64_t>(-5);
  EXPECT_FALSE(IsPlausible(phase));
}

}  // namespace
}  // namespace jankbox

#include "tracer/ftrace/clock_markers.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

namespace jankbox {
namespace {

// Stamps that count from elsewhere and run 10 ppm fast.
uint64_t StampAt(uint64_t ticks) { return 5'000'000'000'000 + ticks + ticks / 100'000; }

KernelClock::Point PointAt(uint64_t ticks, uint64_t half_width = 500) {
  return {StampAt(ticks), ticks - half_width, ticks + half_width};
}

TEST(KernelClock, FollowsAClockThatDrifts) {
  std::vector<KernelClock::Point> points;
  for (uint64_t second = 1; second <= 10; ++second)
    points.push_back(PointAt(second * 1'000'000'000));
  std::swap(points[2], points[7]);  // any order
  const KernelClock clock(points, 1.0);
  for (uint64_t ticks = 1'000'000'000; ticks <= 10'000'000'000; ticks += 123'456'789) {
    EXPECT_NEAR(static_cast<double>(clock.ToTicks(StampAt(ticks))), static_cast<double>(ticks),
                2.0);
  }
}

TEST(KernelClock, OneMarkerServesWithTheNominalSlope) {
  const KernelClock clock({PointAt(1'000'000)}, 1.0);
  EXPECT_NEAR(static_cast<double>(clock.ToTicks(StampAt(1'000'000) + 5'000)), 1'005'000.0, 1.0);
  EXPECT_NEAR(static_cast<double>(clock.ToTicks(StampAt(1'000'000) - 5'000)), 995'000.0, 1.0);
}

// Two markers close together say nothing of the slope beyond them.
TEST(KernelClock, NoiseOfNearMarkersIsNotExtrapolated) {
  const KernelClock clock({{1'000'000, 900'000, 902'000}, {1'001'000, 902'500, 903'500}}, 1.0);
  EXPECT_EQ(clock.ToTicks(1'001'000 + 1'000'000'000), 903'000u + 1'000'000'000);
  EXPECT_EQ(clock.ToTicks(1'000'000 - 800'000), 901'000u - 800'000);
}

TEST(KernelClock, ErrorIsTheWidestOfTheMarkersThatTheWindowRestsOn) {
  const KernelClock clock({PointAt(1'000'000, 9'000), PointAt(2'000'000, 300),
                           PointAt(3'000'000, 700), PointAt(4'000'000, 8'000)},
                          1.0);
  EXPECT_EQ(clock.ErrorTicks(StampAt(2'100'000), StampAt(2'900'000)), 700u);
  EXPECT_EQ(clock.ErrorTicks(StampAt(1'500'000), StampAt(2'900'000)), 9'000u);
  EXPECT_EQ(clock.ErrorTicks(StampAt(3'100'000), StampAt(9'000'000)), 8'000u);
}

class ClockMarkersTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(mkstemp(path_), 0);
    markers_ = std::make_unique<ClockMarkers>(path_, TickSource::kClockGettime);
  }
  void TearDown() override { unlink(path_); }

  // What is in the file: a regular one keeps the last write only, at its front.
  std::string Text() const { return ReadFile(path_, 4096).value(); }

  char path_[32] = "/tmp/jankbox-marker-XXXXXX";
  std::unique_ptr<ClockMarkers> markers_;
};

TEST_F(ClockMarkersTest, ReadingsAreFoundByWhatTheMarkerSays) {
  const uint64_t before = MonotonicNs();
  ASSERT_TRUE(markers_->Write(1e-9));  // any width is good
  const uint64_t after = MonotonicNs();
  ClockMarkers::Written written;
  ASSERT_TRUE(markers_->Find(Text(), &written));
  EXPECT_LE(before, written.before);
  EXPECT_LT(written.before, written.after);
  EXPECT_LE(written.after, after);
}

TEST_F(ClockMarkersTest, WhatIsNotOursIsNotFound) {
  ASSERT_TRUE(markers_->Write(1e-9));
  ClockMarkers::Written written;
  EXPECT_FALSE(markers_->Find("", &written));
  EXPECT_FALSE(markers_->Find("B|1234|jankbox clock 1", &written));
  EXPECT_FALSE(markers_->Find("jankbox clock 0 ticks 1 monotonic 1\n", &written));
  EXPECT_FALSE(markers_->Find("jankbox clock 2 ticks 1 monotonic 1\n", &written));
  EXPECT_TRUE(markers_->Find("jankbox clock 1 ticks 1 monotonic 1\n", &written));
}

TEST_F(ClockMarkersTest, OldOnesAreForgotten) {
  for (int i = 0; i < 1100; ++i) ASSERT_TRUE(markers_->Write(1e-9));
  ClockMarkers::Written written;
  EXPECT_FALSE(markers_->Find("jankbox clock 1 ticks 1 monotonic 1\n", &written));
  EXPECT_FALSE(markers_->Find("jankbox clock 76 ticks 1 monotonic 1\n", &written));
  EXPECT_TRUE(markers_->Find("jankbox clock 77 ticks 1 monotonic 1\n", &written));
  EXPECT_TRUE(markers_->Find("jankbox clock 1100 ticks 1 monotonic 1\n", &written));
}

TEST(ClockMarkers, WithoutTheFileNothingIsWritten) {
  ClockMarkers markers("/nowhere/trace_marker", TickSource::kClockGettime);
  EXPECT_FALSE(markers.Write(1.0));
}

}  // namespace
}  // namespace jankbox

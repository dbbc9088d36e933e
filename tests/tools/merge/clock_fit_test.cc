#include "tools/merge/clock_fit.h"

#include <gtest/gtest.h>

namespace jankbox::tools {
namespace {

constexpr int32_t kTid = 7;
constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1'000 * kMs;

// A thread that works 1 ms now and then; its events, and the kernel's schedule of it on another
// clock.
class ClockFitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    app_.pid = kTid;
    app_.threads[kTid] = "app";
    app_.tracks = {{.uuid = 1, .name = "", .tid = kTid}};
    app_.names = {"work"};
    app_.clocks = {.boottime_ns = 100 * kSecond, .monotonic_ns = 90 * kSecond, .realtime_ns = 1};
    uint64_t ns = 100 * kSecond;
    for (uint64_t i = 0; i < 40; ++i) {
      ns += (3 + i * i % 11) * kMs;
      Work(ns);
    }
    app_.first_ns = app_.events.front().ts_ns;
    app_.last_ns = app_.events.back().ts_ns;
    facts_.first_stamp = facts_.switches.front().stamp;
    facts_.last_stamp = facts_.switches.back().stamp;
    facts_.names = {"work"};
  }

  void Work(uint64_t ns) {
    using traceproto::TrackEvent;
    app_.events.push_back({ns, 0, 0, 0, TrackEvent::TYPE_SLICE_BEGIN});
    app_.events.push_back({ns + kMs, 0, 0, 0, TrackEvent::TYPE_SLICE_END});
    facts_.switches.push_back({ns - offset_ - 5'000, kTid, SwitchPoint::kOn});
    facts_.switches.push_back({ns - offset_ + kMs + 5'000, kTid, SwitchPoint::kOff});
    marks_.push_back({.stamp = ns - offset_ + 2'000,
                      .ordinal = 0,
                      .value = 0,
                      .name = 0,
                      .cpu = 0,
                      .pid = kTid,
                      .tid = kTid,
                      .kind = 'B'});
  }

  ClockFit Fit(const std::string& clock) const {
    return FitClock({.app = &app_, .facts = &facts_, .clock = clock});
  }
  int64_t ErrorOf(const ClockFit& fit) const {
    const uint64_t stamp = facts_.first_stamp;
    return static_cast<int64_t>(fit.ToBoottime(stamp) - (stamp + offset_));
  }

  uint64_t offset_ = 10 * kSecond + 300 * kMs;  // 300 ms from MONOTONIC
  AppTrace app_;
  CaptureFacts facts_;
  std::vector<KernelMark> marks_;
};

TEST_F(ClockFitTest, StatedClocksAreReadDirectly) {
  const ClockFit mono = Fit("mono");
  EXPECT_EQ(mono.method, FitMethod::kDirect);
  EXPECT_EQ(mono.ToBoottime(5 * kSecond), 15 * kSecond);
  EXPECT_EQ(Fit("boot").ToBoottime(5 * kSecond), 5 * kSecond);
}

TEST_F(ClockFitTest, ScheduleRevealsAnUnknownClock) {
  const ClockFit fit = Fit("local");
  EXPECT_EQ(fit.method, FitMethod::kSchedule);
  EXPECT_EQ(fit.clock, "local");
  EXPECT_LE(fit.bound_ns, 10'000u);
  EXPECT_LE(std::abs(ErrorOf(fit)), static_cast<int64_t>(fit.bound_ns));
}

// A clock of the kernel's own that happens to be beside MONOTONIC.
class CloseClockTest : public ClockFitTest {
 protected:
  CloseClockTest() { offset_ = 10 * kSecond + 60'000; }
};

TEST_F(CloseClockTest, IsNotTakenForTheOtherOne) {
  for (const char* clock : {"local", ""}) {
    const ClockFit fit = Fit(clock);
    EXPECT_EQ(fit.method, FitMethod::kSchedule);
    EXPECT_LE(std::abs(ErrorOf(fit)), static_cast<int64_t>(fit.bound_ns));
    EXPECT_EQ(fit.remark, "");
  }
}

TEST_F(ClockFitTest, UnknownClockThatMeasuresAsMonotonicIsNamed) {
  for (SwitchPoint& point : facts_.switches) point.stamp += 300 * kMs;
  facts_.first_stamp += 300 * kMs;
  facts_.last_stamp += 300 * kMs;
  const ClockFit fit = Fit("");
  EXPECT_EQ(fit.method, FitMethod::kDirect);
  EXPECT_EQ(fit.clock, "mono");
}

TEST_F(ClockFitTest, WakeUpsStandInForSwitchesThatAreHidden) {
  for (SwitchPoint& point : facts_.switches) {
    if (point.kind == SwitchPoint::kOn) point.kind = SwitchPoint::kWoken;
  }
  const ClockFit fit = Fit("local");
  EXPECT_EQ(fit.method, FitMethod::kSchedule);
  EXPECT_LE(std::abs(ErrorOf(fit)), static_cast<int64_t>(fit.bound_ns));
}

TEST_F(ClockFitTest, MarkersOfBothSidesTellIt) {
  facts_.marks = marks_;
  facts_.switches.clear();
  const ClockFit fit = Fit("");
  EXPECT_EQ(fit.method, FitMethod::kMarkers);
  EXPECT_EQ(fit.clock, "unknown");
  EXPECT_EQ(fit.evidence, 40u);
  EXPECT_LE(std::abs(ErrorOf(fit)), static_cast<int64_t>(fit.bound_ns));
  EXPECT_LE(fit.bound_ns, 10'000u);
}

TEST_F(ClockFitTest, MarkersOverruleAClockThatTheFileStates) {
  facts_.marks = marks_;
  const ClockFit fit = Fit("mono");
  EXPECT_EQ(fit.method, FitMethod::kMarkers);
  EXPECT_NE(fit.remark, "");
  EXPECT_LE(std::abs(ErrorOf(fit)), static_cast<int64_t>(fit.bound_ns));
}

TEST_F(ClockFitTest, ClockMarkersComeFirst) {
  facts_.marks = marks_;
  for (uint64_t i = 0; i < 10; ++i) {
    const uint64_t stamp = 90 * kSecond + i * kMs;
    facts_.clock_pairs.push_back({stamp + 1'500 + i * 100, stamp + offset_ + 77 * kMs, true});
  }
  const ClockFit fit = Fit("local");
  EXPECT_EQ(fit.method, FitMethod::kClockMarks);
  EXPECT_LE(std::abs(ErrorOf(fit) - static_cast<int64_t>(77 * kMs)),
            static_cast<int64_t>(fit.bound_ns));
}

TEST_F(ClockFitTest, NothingToGoByIsTheNearestClockWithAHonestBound) {
  facts_.switches.clear();
  const ClockFit fit = Fit("local");
  EXPECT_EQ(fit.method, FitMethod::kNearest);
  EXPECT_GE(fit.bound_ns, kSecond);
  EXPECT_LE(std::abs(ErrorOf(fit)), static_cast<int64_t>(fit.bound_ns));
}

TEST_F(ClockFitTest, AThreadThatNeverSleepsGivesNoData) {
  const uint64_t first = facts_.switches.front().stamp, last = facts_.switches.back().stamp;
  facts_.switches = {{first - kSecond, kTid, SwitchPoint::kOn},
                     {last + kSecond, kTid, SwitchPoint::kOff}};
  EXPECT_EQ(Fit("local").method, FitMethod::kNearest);
}

TEST(FitPairs, LongSpansShowTheDrift) {
  std::vector<ClockPair> pairs;
  for (uint64_t i = 0; i < 100; ++i) {
    const uint64_t stamp = kSecond + i * 100 * kMs;
    pairs.push_back({stamp, stamp + 5 * kSecond + i * 100 * kMs / 20'000, true});  // 50 ppm
  }
  const ClockFit fit = FitPairs(pairs, 1);
  EXPECT_NEAR(fit.slope, 1.00005, 1e-6);
  EXPECT_LT(fit.bound_ns, 1'000u);
}

}  // namespace
}  // namespace jankbox::tools

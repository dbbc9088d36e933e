#include "sdk/runtime/startup_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "base/uuid.h"

namespace jankbox {
namespace {

constexpr uint64_t kSecond = kNsPerSecond;
constexpr uint64_t kRecorder = 1000 * kSecond;
constexpr StartupThresholds kLimits{.cold_ns = 10 * kSecond, .warm_ns = 4 * kSecond};

// Seconds since the process began; Jankbox records from the second one on.
constexpr uint64_t At(double s) { return kRecorder - 2 * kSecond + static_cast<uint64_t>(s * 1e9); }

class StartupWatchTest : public testing::Test {
 protected:
  StartupWatchTest() : header_(std::make_unique<RingHeader>()) {
    header_->clock_at_start.monotonic_ns = kRecorder;
    header_->clock_at_start.boottime_ns = 5000 * kSecond;
    const auto ticks_a_second = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
    header_->process_start_ticks = 4998 * ticks_a_second;
    watch_ = std::make_unique<StartupWatch>(*header_);
    StartupWatch::NoteDrawn(0);  // it is kept for the process
  }
  std::optional<SealRequest> Look(double s, uint64_t in_front_ns = 1) {
    return watch_->Look(At(s), in_front_ns, kLimits);
  }

  std::unique_ptr<RingHeader> header_;
  std::unique_ptr<StartupWatch> watch_;
};

TEST_F(StartupWatchTest, SlowColdStartIsReportedFromTheProcesssBeginOn) {
  watch_->OnThread(At(3), 0);
  EXPECT_FALSE(Look(5));
  watch_->OnThread(At(3), At(12));
  const std::optional<SealRequest> slow = Look(12.1);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->kind, ReportKind::kStartup);
  EXPECT_EQ(slow->what, "cold start");
  EXPECT_EQ(slow->begin_ns, At(0));
  EXPECT_EQ(slow->end_ns, At(12));
  EXPECT_EQ(slow->tid, getpid());
  EXPECT_EQ(slow->watched_index, kMaxWatchedThreads) << "of no slot in the ring";
  EXPECT_TRUE(IsUuid(slow->id));
  ASSERT_TRUE(slow->startup);
  EXPECT_TRUE(slow->startup->cold);
  EXPECT_EQ(slow->startup->recorder_ns, kRecorder);
  EXPECT_EQ(slow->startup->first_dispatch_ns, At(3));
  EXPECT_EQ(slow->startup->first_frame_ns, At(12));
}

TEST_F(StartupWatchTest, StartIsReportedOnce) {
  watch_->OnThread(At(3), At(12));
  EXPECT_TRUE(Look(12.1));
  watch_->OnThread(At(13), At(30));
  EXPECT_FALSE(Look(31));
}

TEST_F(StartupWatchTest, QuickStartIsNotReported) {
  watch_->OnThread(At(3), At(9.9));
  EXPECT_FALSE(Look(10));
  EXPECT_FALSE(Look(60));
}

TEST_F(StartupWatchTest, LimitItselfIsTooSlow) {
  watch_->OnThread(At(3), At(10));
  EXPECT_TRUE(Look(10.1));
}

TEST_F(StartupWatchTest, FirstFrameOfAnyThreadCounts) {
  watch_->OnThread(0, 0);
  watch_->OnThread(At(4), 0);
  watch_->OnThread(0, At(11));
  watch_->OnThread(At(5), At(20));
  const std::optional<SealRequest> slow = Look(21);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->startup->first_dispatch_ns, At(4));
  EXPECT_EQ(slow->end_ns, At(11));
}

TEST_F(StartupWatchTest, ReturnToTheFrontIsAWarmStart) {
  watch_->OnThread(At(1), At(2));
  EXPECT_FALSE(Look(2.1));
  EXPECT_FALSE(Look(100, 0));
  EXPECT_FALSE(Look(200.5, kSecond / 2)) << "in front for half a second";
  watch_->OnThread(At(201), At(204.5));
  const std::optional<SealRequest> slow = Look(204.6, 4 * kSecond);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->what, "warm start");
  EXPECT_EQ(slow->begin_ns, At(200)) << "when it came to the front";
  EXPECT_FALSE(slow->startup->cold);
}

TEST_F(StartupWatchTest, WarmStartHasItsOwnLimit) {
  watch_->OnThread(At(1), At(2));
  Look(2.1);
  Look(100, 0);
  Look(200, kSecond / 1000);
  watch_->OnThread(0, At(203.9));
  EXPECT_FALSE(Look(204, 4 * kSecond));
}

TEST_F(StartupWatchTest, StartThatTheUserLeftIsNone) {
  EXPECT_FALSE(Look(5, 0));
  watch_->OnThread(At(3), At(30));
  EXPECT_FALSE(Look(30.1, 0)) << "a frame in the background ends nothing";
}

TEST_F(StartupWatchTest, WhatTheAppDrewEndsItsStart) {
  watch_->OnThread(At(3), 0);
  StartupWatch::NoteDrawn(At(15));
  const std::optional<SealRequest> slow = Look(15.1);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->end_ns, At(15));
  EXPECT_EQ(slow->startup->drawn_ns, At(15));
}

TEST_F(StartupWatchTest, AppThatSaidWhenItWasDrawnIsWaitedForOnlySoLong) {
  StartupWatch::NoteDrawn(At(3));
  Look(3.1);  // the cold start is over
  Look(100, 0);
  Look(200, kSecond / 1000);
  watch_->OnThread(0, At(206));
  EXPECT_FALSE(Look(206.1, 6 * kSecond)) << "it may still say so";
  EXPECT_FALSE(Look(210.9, 10 * kSecond));
  const std::optional<SealRequest> slow = Look(211.1, 11 * kSecond);
  ASSERT_TRUE(slow) << "five seconds after its first frame";
  EXPECT_EQ(slow->end_ns, At(206));
}

TEST_F(StartupWatchTest, BootThatTheCountersDoNotReachIsNoNegativeAge) {
  header_->process_start_ticks = UINT64_MAX / kSecond;  // after the reading: cannot be
  StartupWatch odd(*header_);
  odd.OnThread(0, kRecorder + 11 * kSecond);
  const std::optional<SealRequest> slow = odd.Look(kRecorder + 12 * kSecond, 1, kLimits);
  ASSERT_TRUE(slow);
  EXPECT_LE(slow->begin_ns, kRecorder);
}

}  // namespace
}  // namespace jankbox

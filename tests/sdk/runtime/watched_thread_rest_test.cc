// When there is nothing to look at, so that the watcher may sleep.
#include <gmock/gmock.h>

#include "base/phase_names.h"
#include "tests/sdk/runtime/watched_thread_fixture.h"

namespace jankbox {
namespace {

using ::testing::SizeIs;

TEST_F(WatchedThreadTest, RestsOnceNothingIsLeftToBeSeen) {
  Begin("a", 60);
  End(70);
  Look(100);
  EXPECT_EQ(Thread().RestNs(), kNoTimeout);
  EXPECT_EQ(Thread().began(), 1u);
  Look(150);
  EXPECT_EQ(Thread().began(), 0u);
  Frame(160, 170);
  Look(200);
  EXPECT_EQ(Thread().began(), 1u);
  Begin("slow", 300);
  LookUntil(1050);
  EXPECT_EQ(Thread().RestNs(), 0u);
  EXPECT_EQ(Thread().began(), 0u);
  End(1060);
  LookUntil(1200);
  EXPECT_EQ(Thread().RestNs(), kNoTimeout);
  EXPECT_THAT(sealed_, SizeIs(1));
}

TEST_F(WatchedThreadTest, ThreadThatRunsOutsideOfMessagesIsLookedAt) {
  state_.reading.wait = WaitReason::kNone;
  state_.reading.state = 'R';
  Look(100);
  Look(150);
  EXPECT_EQ(Thread().RestNs(), 0u);
}

TEST_F(WatchedThreadTest, StartThatWaitsForEverIsLookedAtLess) {
  state_.reading.sched_known = true;
  Begin(kStartUpName, 40);
  LookUntil(400);
  EXPECT_EQ(Thread().RestNs(), 0u);
  LookUntil(850);
  EXPECT_EQ(Thread().RestNs(), 100 * kNsPerMs);
  EXPECT_FALSE(Thread().NeedsCpuAccount(true));
  LookUntil(9000);
  EXPECT_EQ(Thread().RestNs(), kNsPerSecond);
  ++state_.reading.switches;
  Look(5050);
  EXPECT_EQ(Thread().RestNs(), 0u) << "it ran";
  EXPECT_TRUE(Thread().NeedsCpuAccount(true));
}

TEST_F(WatchedThreadTest, FrameThatNobodyAskedForWhileTheWatcherSleptIsNotLate) {
  for (const uint64_t start_ms : {1000, 2000}) {
    Begin("a", start_ms);
    End(start_ms + 10);
    Look(start_ms + 50);
    Look(start_ms + 100);
    ASSERT_EQ(Thread().began(), 0u);
    if (start_ms == 2000) Thread().NoteRestUntil(At(start_ms + 900));
    Begin("doFrame", start_ms + 900);
    FrameMonitor::OnFrame(WatchedSlot(ring_.header(), 0), {.vsync_ns = At(start_ms + 500),
                                                           .interval_ns = 16'666'667,
                                                           .start_ns = At(start_ms + 901),
                                                           .end_ns = At(start_ms + 905)});
    End(start_ms + 905);
    Look(start_ms + 950);
    EXPECT_EQ(refusals_.count(RefusalReason::kNotRendering), start_ms == 2000 ? 1u : 0u);
  }
}

// What it did in messages that were not read would be taken for this one's.
TEST_F(WatchedThreadTest, ReadingFromBeforeItWasSparedIsNoBaseline) {
  options_.slow_message_ns = 10 * kNsPerMs;
  state_.reading.wait = WaitReason::kNone;
  Look(50);
  Thread().Spare(true);
  Look(1000);
  Begin("a", 1010);
  Look(1050);
  Look(1070);
  End(1100);
  for (uint64_t ms = 1150; ms <= 3000 && sealed_.empty(); ms += 50) Look(ms);
  ASSERT_EQ(sealed_.size(), 1u);
  ASSERT_FALSE(sealed_[0].readings.points().empty());
  EXPECT_EQ(sealed_[0].readings.points().front().time_ns, At(1070));
}

}  // namespace
}  // namespace jankbox

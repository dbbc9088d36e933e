#include "monitors/anr/heartbeat.h"

#include <gmock/gmock.h>

#include "base/clock.h"

namespace jankbox {
namespace {

using ::testing::IsEmpty;

constexpr uint64_t kMs = kNsPerMs;
constexpr uint64_t kPlannedMs = 50;

// A machine whose clocks and scheduler do what the test says.
class FakeBeats final : public BeatSource {
 public:
  BeatReading Read() override { return now; }
  bool Traced() override { return traced; }

  void Pass(uint64_t ms) {
    now.monotonic_ns += ms * kMs;
    now.boottime_ns += ms * kMs;
  }

  BeatReading now{1000 * kMs, 5000 * kMs, true, 0, 0, 0, 0, {}};
  bool traced = false;
};

class HeartbeatTest : public ::testing::Test {
 protected:
  HeartbeatTest() {
    beats_.now.sleeper.sleep = 7;
    heart_.Wakes();
    heart_.Sleeps(kPlannedMs * kMs);
  }
  // Wakes up after `ms`, of which the watcher waited `runnable_ms` for a CPU. It gave up its CPU to
  // sleep and to be stopped.
  void Sleep(uint64_t ms, uint64_t runnable_ms = 0, uint64_t others_cpu_ms = 0,
             uint64_t switches = 2) {
    beats_.Pass(ms);
    beats_.now.runnable_ns += runnable_ms * kMs;
    beats_.now.process_cpu_ns += others_cpu_ms * kMs;
    beats_.now.voluntary += switches;
    if (switches > 1) ++beats_.now.sleeper.cpu_ns;
    now_ns_ = heart_.Wakes();
  }
  std::vector<Hold> Holds() {
    const std::span<const Hold> holds = heart_.TakeHolds();
    return {holds.begin(), holds.end()};
  }
  void ExpectOne(RefusalReason reason, uint64_t held_ms) {
    const std::vector<Hold> holds = Holds();
    ASSERT_EQ(holds.size(), 1u);
    EXPECT_EQ(holds[0].reason, reason);
    EXPECT_EQ((holds[0].to_ns - holds[0].from_ns) / kMs, held_ms);
    EXPECT_EQ(holds[0].to_ns, now_ns_);
  }

  FakeBeats beats_;
  Heartbeat heart_{&beats_};
  uint64_t now_ns_ = 0;
};

TEST_F(HeartbeatTest, OrdinarySleepsAreNothing) {
  for (int i = 0; i < 100; ++i) {
    Sleep(kPlannedMs + 20, 15, 60);
    EXPECT_THAT(Holds(), IsEmpty());
    beats_.Pass(30);  // its work
    beats_.now.run_ns += 30 * kMs;
    heart_.Sleeps(kPlannedMs * kMs);
    EXPECT_THAT(Holds(), IsEmpty());
  }
}

TEST_F(HeartbeatTest, SleepWithNeitherRunNorWaitIsAStop) {
  Sleep(8000 + kPlannedMs, 0, 3);
  ExpectOne(RefusalReason::kStopped, 8000);
}

TEST_F(HeartbeatTest, StopUnderADebuggerIsItsDoing) {
  beats_.traced = true;
  Sleep(8000 + kPlannedMs);
  ExpectOne(RefusalReason::kTraced, 8000);
}

TEST_F(HeartbeatTest, StopThatHitsTheWatcherAtWorkIsOne) {
  Sleep(kPlannedMs);
  EXPECT_THAT(Holds(), IsEmpty());
  beats_.Pass(8001);
  beats_.now.run_ns += kMs;
  beats_.now.process_cpu_ns += 2 * kMs;
  ++beats_.now.voluntary;
  ++beats_.now.sleeper.cpu_ns;
  heart_.Sleeps(kPlannedMs * kMs);
  now_ns_ = beats_.now.monotonic_ns;
  ExpectOne(RefusalReason::kStopped, 8000);
}

TEST_F(HeartbeatTest, StopThatUsesUpThePlannedSleepIsOne) {
  ++beats_.now.sleeper.cpu_ns;
  Sleep(8000 + kPlannedMs, 0, 0, 1);
  ExpectOne(RefusalReason::kStopped, 8000);
}

// It waits for a lock or a disk as well.
TEST_F(HeartbeatTest, WatcherThatWaitsAtWorkWhileTheSleeperSleepsOnWasNotStopped) {
  Sleep(kPlannedMs);
  beats_.Pass(500);
  ++beats_.now.voluntary;
  heart_.Sleeps(kPlannedMs * kMs);
  EXPECT_THAT(Holds(), IsEmpty());
}

TEST_F(HeartbeatTest, WatcherThatWaitsAtWorkIsNoStopIfNobodySleeps) {
  for (const uint64_t sleep : {0, 9}) {  // awake; in another sleep than before
    Sleep(kPlannedMs);
    beats_.Pass(500);
    ++beats_.now.voluntary;
    beats_.now.sleeper = {sleep, beats_.now.sleeper.cpu_ns + kMs};
    heart_.Sleeps(kPlannedMs * kMs);
    EXPECT_THAT(Holds(), IsEmpty()) << sleep;
  }
}

TEST_F(HeartbeatTest, WatcherThatWokeTwiceWhileTheSleeperSleepsOnWasNotStopped) {
  Sleep(kPlannedMs);
  heart_.Sleeps(kPlannedMs * kMs);
  beats_.now.sleeper.cpu_ns -= 1;  // as it was before this sleep
  Sleep(500 + kPlannedMs);
  EXPECT_THAT(Holds(), IsEmpty());
}

// A lock or a disk that the watcher waits for: the process goes on.
TEST_F(HeartbeatTest, WatcherThatIsDelayedAtWorkIsNoStop) {
  Sleep(kPlannedMs);
  beats_.Pass(8000);
  beats_.now.process_cpu_ns += 3000 * kMs;
  heart_.Sleeps(kPlannedMs * kMs);
  EXPECT_THAT(Holds(), IsEmpty());
}

TEST_F(HeartbeatTest, WaitForACpuIsStarvation) {
  Sleep(8000 + kPlannedMs, 8000, 4000);
  ExpectOne(RefusalReason::kWatcherLate, 8000);
}

TEST_F(HeartbeatTest, StopAndStarvationAreDistinguished) {
  Sleep(9000 + kPlannedMs, 1000, 500);
  const std::vector<Hold> holds = Holds();
  ASSERT_EQ(holds.size(), 2u);
  EXPECT_EQ(holds[0].reason, RefusalReason::kStopped);
  EXPECT_EQ(holds[0].to_ns - holds[0].from_ns, 8000 * kMs);
  EXPECT_EQ(holds[1].reason, RefusalReason::kWatcherLate);
  EXPECT_EQ(holds[1].from_ns, holds[0].to_ns);
}

// A hypervisor took one CPU away: the others went on.
TEST_F(HeartbeatTest, CpuThatIsTakenAwayFromBelowIsNoStop) {
  Sleep(3000 + kPlannedMs, 0, 3000);
  EXPECT_THAT(Holds(), IsEmpty());
}

TEST_F(HeartbeatTest, SleepThatOnlyLastedTooLongIsNoStop) {
  Sleep(500, 0, 0, 1);
  EXPECT_THAT(Holds(), IsEmpty());
}

// While nothing is to be watched it sleeps for so long that a stop may begin and end in one sleep.
TEST_F(HeartbeatTest, StopWithinALongSleepIsAllOfIt) {
  Sleep(kPlannedMs);
  heart_.Sleeps(1000 * kMs);
  Sleep(1000, 0, 0, 1);
  EXPECT_THAT(Holds(), IsEmpty());
  heart_.Sleeps(1000 * kMs);
  Sleep(1000);
  ASSERT_NO_FATAL_FAILURE(ExpectOne(RefusalReason::kStopped, 1000));
  heart_.Sleeps(1000 * kMs);
  Sleep(8000);
  const std::vector<Hold> holds = Holds();
  ASSERT_EQ(holds.size(), 2u);
  EXPECT_EQ(holds[0].to_ns - holds[0].from_ns, 1000 * kMs);
  EXPECT_EQ(holds[1].from_ns, holds[0].to_ns);
  EXPECT_EQ(holds[1].to_ns - holds[1].from_ns, 7000 * kMs);
}

TEST_F(HeartbeatTest, StopWithinALongSleepThatWasCutShortEndsWithIt) {
  Sleep(kPlannedMs);
  heart_.Sleeps(64'000 * kMs);
  Sleep(2000);
  ASSERT_NO_FATAL_FAILURE(ExpectOne(RefusalReason::kStopped, 2000));
}

// While much is to be watched it may give up its CPU twice for another reason: for memory, say.
TEST_F(HeartbeatTest, SleepInWhichThingsHappenIsOnlyStoppedIfTheSleeperWasWokenToo) {
  Sleep(kPlannedMs);
  heart_.Sleeps(350 * kMs, /*rests=*/false);
  beats_.now.sleeper.cpu_ns -= 1;  // for Sleep()
  Sleep(350);
  EXPECT_THAT(Holds(), IsEmpty());
  heart_.Sleeps(350 * kMs, /*rests=*/false);
  Sleep(350);
  ASSERT_NO_FATAL_FAILURE(ExpectOne(RefusalReason::kStopped, 350));
}

// Woken by what it is to see, it sleeps on for a look's time.
class WokenHeartbeatTest : public HeartbeatTest {
 protected:
  // Wakes up `ms` after it was woken, which was 300 ms after it had gone to sleep.
  void WokenThenSleep(uint64_t ms, uint64_t switches) {
    Sleep(kPlannedMs, 0, 0, 1);
    heart_.Sleeps(1000 * kMs);
    began_ns_ = beats_.now.monotonic_ns;
    beats_.Pass(300);
    heart_.SleepsOn(beats_.now.monotonic_ns, kPlannedMs * kMs);
    if (switches == 2) --beats_.now.sleeper.cpu_ns;  // it sleeps on
    Sleep(ms, 0, 0, switches);
  }

  uint64_t began_ns_ = 0;
};

TEST_F(WokenHeartbeatTest, SleepInTwoPartsIsNothing) {
  WokenThenSleep(kPlannedMs, 2);
  EXPECT_THAT(Holds(), IsEmpty());
  WokenThenSleep(500, 2);
  EXPECT_THAT(Holds(), IsEmpty()) << "it only lasted too long";
}

TEST_F(WokenHeartbeatTest, StopInTheFirstPartIsAllOfIt) {
  WokenThenSleep(kPlannedMs, 3);
  const std::vector<Hold> holds = Holds();
  ASSERT_EQ(holds.size(), 1u);
  EXPECT_EQ(holds[0].from_ns, began_ns_);
  EXPECT_EQ(holds[0].to_ns, began_ns_ + 300 * kMs);
}

TEST_F(WokenHeartbeatTest, StopInTheSecondPartIsItsLateness) {
  WokenThenSleep(kPlannedMs + 500, 3);
  const std::vector<Hold> holds = Holds();
  ASSERT_EQ(holds.size(), 2u);
  EXPECT_EQ(holds[1].from_ns, now_ns_ - 500 * kMs);
  EXPECT_EQ(holds[1].to_ns, now_ns_);
}

TEST_F(HeartbeatTest, SleepOfTheMachineIsBoottimesLead) {
  beats_.now.boottime_ns += 3'600'000 * kMs;
  Sleep(kPlannedMs);
  const std::vector<Hold> holds = Holds();
  ASSERT_EQ(holds.size(), 1u);
  EXPECT_EQ(holds[0].reason, RefusalReason::kSuspended);
  EXPECT_EQ(holds[0].from_ns, holds[0].to_ns);
  EXPECT_EQ(holds[0].beyond_ns, 3'600'000 * kMs);
  EXPECT_TRUE(heart_.TakeSuspended());
  EXPECT_FALSE(heart_.TakeSuspended());
}

TEST_F(HeartbeatTest, FreezingForASleepOfTheMachineIsPartOfIt) {
  beats_.now.boottime_ns += 3'600'000 * kMs;
  Sleep(400 + kPlannedMs);
  ExpectOne(RefusalReason::kSuspended, 400);
}

TEST_F(HeartbeatTest, WithoutSchedstatAQuietProcessWasStoppedAndABusyOneWasNot) {
  beats_.now.sched_known = false;
  Sleep(kPlannedMs);
  heart_.Sleeps(kPlannedMs * kMs);
  Sleep(8000 + kPlannedMs);
  ASSERT_NO_FATAL_FAILURE(ExpectOne(RefusalReason::kStopped, 8000));
  heart_.Sleeps(kPlannedMs * kMs);
  Sleep(8000 + kPlannedMs, 0, 8000);
  ExpectOne(RefusalReason::kWatcherLate, 8000);
}

}  // namespace
}  // namespace jankbox

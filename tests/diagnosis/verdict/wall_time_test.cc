#include "diagnosis/verdict/wall_time.h"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <random>

#include "base/clock.h"

namespace jankbox {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using State = ThreadSpan::State;

constexpr uint64_t kMs = kNsPerMs;

ThreadReading At(uint64_t run_ms, uint64_t runnable_ms, WaitReason wait, int32_t syscall = -1) {
  ThreadReading reading;
  reading.sched_known = true;
  reading.run_ns = run_ms * kMs;
  reading.runnable_ns = runnable_ms * kMs;
  reading.wait = wait;
  reading.syscall = syscall;
  return reading;
}

ThreadSpan Span(uint64_t from_ms, uint64_t to_ms, State state) {
  ThreadSpan span;
  span.from_ns = from_ms * kMs;
  span.to_ns = to_ms * kMs;
  span.state = state;
  return span;
}

WaitSpan Call(uint64_t from_ms, uint64_t to_ms, WaitClass what, int32_t owner_tid = 0,
              StackSample::FdClass fd_class = StackSample::FdClass::kNone) {
  WaitSpan call{from_ms * kMs, to_ms * kMs, {}};
  call.begin.what = what;
  call.begin.owner_tid = owner_tid;
  call.begin.fd_class = static_cast<uint8_t>(fd_class);
  return call;
}

// "lock 20 hooks", in order of appearance.
std::vector<std::string> Lines(const Verdict& verdict) {
  std::vector<std::string> lines;
  for (const VerdictShare& share : verdict.shares) {
    lines.push_back(std::string(VerdictCauseName(share.cause)) + " " +
                    std::to_string(share.ns / kMs) + " " + VerdictSourceName(share.source) +
                    (share.estimate ? " ~" : ""));
  }
  return lines;
}

// "0-100 running", in order; with the times of each cause if there are several, the largest first.
std::vector<std::string> Stretches(const Verdict& verdict) {
  std::vector<std::string> lines;
  for (VerdictStretch stretch : verdict.stretches) {
    std::string line =
        std::to_string(stretch.from_ns / kMs) + "-" + std::to_string(stretch.to_ns / kMs);
    const bool mixed = stretch.shares.size() > 1;
    for (; !stretch.shares.empty(); stretch.shares.erase(
             stretch.shares.begin() + (LargestShare(stretch.shares) - stretch.shares.data()))) {
      const VerdictShare& share = *LargestShare(stretch.shares);
      line += std::string(" ") + VerdictCauseName(share.cause);
      if (mixed) line += " " + std::to_string(share.ns / kMs);
    }
    lines.push_back(line);
  }
  return lines;
}

// They follow one another from the first moment to the last, and each has as much as it is long,
// but for what a late wake-up takes from a call.
void CheckStretches(const Verdict& verdict, uint64_t from_ns, uint64_t to_ns) {
  uint64_t at = from_ns;
  for (const VerdictStretch& stretch : verdict.stretches) {
    ASSERT_EQ(stretch.from_ns, at);
    ASSERT_GT(stretch.to_ns, at);
    ASSERT_NE(LargestShare(stretch.shares), nullptr);
    at = stretch.to_ns;
  }
  ASSERT_EQ(at, to_ns);
}

class WallTimeTest : public ::testing::Test {
 protected:
  WallTimeTest() {
    evidence_.to_ns = 1000 * kMs;
    evidence_.readings = &readings_;
  }
  void Read(uint64_t at_ms, const ThreadReading& reading) { readings_.Add(at_ms * kMs, reading); }
  std::vector<std::string> Split() {
    const Verdict verdict = SplitWallTime(evidence_);
    EXPECT_EQ(verdict.total_ns(), evidence_.to_ns - evidence_.from_ns);
    CheckStretches(verdict, evidence_.from_ns, evidence_.to_ns);
    return Lines(verdict);
  }

  WallTimeEvidence evidence_;
  VerdictTimeline readings_;
};

TEST_F(WallTimeTest, ReadingsAreSplitBySchedstatAndWhatTheySaw) {
  Read(0, At(0, 0, WaitReason::kBlocked));  // idle in its loop
  Read(100, At(60, 10, WaitReason::kLock, SYS_futex));
  Read(900, At(60, 10, WaitReason::kLock, SYS_futex));
  Read(1000, At(100, 10, WaitReason::kNone));
  EXPECT_THAT(Split(), ElementsAre("running 100 schedstat", "runnable 10 schedstat",
                                   "lock 890 system calls"));
}

TEST_F(WallTimeTest, WhatNoReadingCoversIsUnknown) {
  Read(500, At(0, 0, WaitReason::kNone));
  Read(600, At(100, 0, WaitReason::kNone));
  EXPECT_THAT(Split(), ElementsAre("unknown 900 nothing", "running 100 schedstat"));
}

TEST_F(WallTimeTest, BaselineFromBeforeCountsOnlyWhatFits) {
  evidence_.from_ns = 990 * kMs;
  Read(950, At(0, 0, WaitReason::kBlocked));
  Read(1000, At(60, 0, WaitReason::kNone));
  EXPECT_THAT(Split(), ElementsAre("running 10 schedstat"));
}

TEST_F(WallTimeTest, WaitsOfBeforeAndAfterAreNotItsOwn) {
  evidence_.from_ns = 100 * kMs;
  evidence_.to_ns = 400 * kMs;
  Read(90, At(0, 0, WaitReason::kSleeping, SYS_clock_nanosleep));
  Read(200, At(50, 5, WaitReason::kNone));
  Read(410, At(150, 15, WaitReason::kSleeping, SYS_clock_nanosleep));
  EXPECT_THAT(Split(), ElementsAre("running 150 schedstat", "runnable 15 schedstat",
                                   "blocked 135 schedstat"));
}

// A dead process's samples have states only.
TEST_F(WallTimeTest, StateDoesNotDistinguishRunningFromWantingTo) {
  ThreadReading state;
  state.wait = WaitReason::kNone;
  Read(0, state);
  Read(1000, state);
  const Verdict verdict = SplitWallTime(evidence_);
  ASSERT_EQ(verdict.shares.size(), 1u);
  EXPECT_EQ(PhraseOf(verdict.shares[0]), "on the CPU or waiting for one");
}

TEST_F(WallTimeTest, WithoutSchedstatTheStatesDecide) {
  ThreadReading running, asleep;
  running.wait = WaitReason::kNone;
  asleep.wait = WaitReason::kSleeping;
  Read(0, running);
  Read(300, running);
  Read(1000, asleep);
  EXPECT_THAT(Split(), ElementsAre("running 300 thread states", "sleeping 700 thread states"));
}

TEST_F(WallTimeTest, CallsThatTheThreadRecordedComeBeforeReadings) {
  Read(0, At(0, 0, WaitReason::kBlocked));
  Read(1000, At(200, 0, WaitReason::kLock, SYS_futex));
  evidence_.waits = {Call(100, 600, WaitClass::kMutex, 7), Call(700, 800, WaitClass::kCondition)};
  EXPECT_THAT(Split(), ElementsAre("running 200 schedstat", "lock 500 hooks", "blocked 100 hooks",
                                   "lock 200 system calls"));
  EXPECT_EQ(SplitWallTime(evidence_).shares[1].owner_tid, 7);
}

TEST_F(WallTimeTest, PauseOfTheCollectorComesBeforeTheFutexInWhichItWaits) {
  Read(0, At(0, 0, WaitReason::kBlocked, SYS_futex));
  Read(1000, At(200, 0, WaitReason::kThread, SYS_futex));
  evidence_.waits = {Call(100, 600, WaitClass::kCondition)};
  evidence_.gc_pauses = {{300 * kMs, 400 * kMs}, {900 * kMs, 2000 * kMs}};
  const std::vector<std::string> lines = Split();
  EXPECT_THAT(lines, Contains("gc 200 collector"));
  EXPECT_THAT(lines, Contains("running 200 schedstat"));
}

// It would have waited for that anyway.
TEST_F(WallTimeTest, PauseDuringAReadIsNoWaitForTheCollector) {
  Read(0, At(0, 0, WaitReason::kBlocked));
  Read(1000, At(0, 0, WaitReason::kBlocked, SYS_read));
  evidence_.gc_pauses = {{300 * kMs, 400 * kMs}};
  EXPECT_THAT(Split(), ElementsAre("blocked 1000 system calls"));
}

TEST_F(WallTimeTest, CallInWhichItAlsoRanHasOnlyWhatItWaited) {
  Read(0, At(0, 0, WaitReason::kBlocked));
  Read(1000, At(750, 0, WaitReason::kBlocked));
  evidence_.waits = {Call(0, 1000, WaitClass::kPwrite, 0, StackSample::FdClass::kFile)};
  EXPECT_THAT(Split(), ElementsAre("running 750 schedstat", "disk 250 hooks"));
}

TEST_F(WallTimeTest, KernelsSwitchesComeFirstAndReadingsFillTheirGaps) {
  Read(0, At(0, 0, WaitReason::kBlocked));
  Read(1000, At(900, 0, WaitReason::kBlocked));
  evidence_.spans = {Span(0, 100, State::kRunning), Span(100, 300, State::kRunnable),
                     Span(300, 400, State::kRunning)};
  evidence_.from_ns = 0;
  // Of the readings' 900 ms on the CPU as many as fit into the gap.
  EXPECT_THAT(Split(),
              ElementsAre("running 200 ftrace", "runnable 200 ftrace", "running 600 schedstat"));
}

TEST_F(WallTimeTest, SpanThatTheThreadsOwnCpuTimeContradictsIsNotBelieved) {
  for (uint64_t at = 0; at <= 1000; at += 50) Read(at, At(at, 0, WaitReason::kNone));
  evidence_.spans = {Span(0, 1000, State::kWaiting)};  // its arrival was missed
  EXPECT_THAT(Split(), ElementsAre("running 1000 schedstat"));
  evidence_.spans = {Span(0, 1000, State::kRunnable)};
  EXPECT_THAT(Split(), ElementsAre("running 1000 schedstat"));
  readings_ = {};
  for (uint64_t at = 0; at <= 1000; at += 50) Read(at, At(0, 0, WaitReason::kLock, SYS_futex));
  evidence_.spans = {Span(0, 1000, State::kRunning)};  // its leaving was
  EXPECT_THAT(Split(), ElementsAre("lock 1000 system calls"));
}

TEST_F(WallTimeTest, ThreadThatWasSeenWaitingWasNotReadyToRunAllTheTime) {
  for (uint64_t at = 0; at <= 1000; at += 50) Read(at, At(0, 0, WaitReason::kLock, SYS_futex));
  evidence_.spans = {Span(0, 10, State::kRunning), Span(10, 990, State::kRunnable),
                     Span(990, 1000, State::kRunning)};
  EXPECT_THAT(Split(), ElementsAre("running 20 ftrace", "lock 980 system calls"));
  readings_ = {};
  Read(0, At(0, 0, WaitReason::kNone));
  Read(200, At(0, 0, WaitReason::kLock, SYS_futex));
  Read(401, At(0, 0, WaitReason::kLock, SYS_futex));  // just before it could run
  Read(700, At(0, 0, WaitReason::kNone));
  Read(999, At(0, 0, WaitReason::kLock, SYS_futex));  // just after
  evidence_.spans = {Span(0, 400, State::kWaiting), Span(400, 1000, State::kRunnable)};
  EXPECT_THAT(Split(), ElementsAre("lock 400 system calls", "runnable 600 ftrace"));
}

TEST_F(WallTimeTest, TimeOnACpuThatTheThreadsOwnCpuTimeDoesNotCountIsTold) {
  Read(0, At(0, 0, WaitReason::kBlocked));
  Read(400, At(350, 0, WaitReason::kNone));
  Read(800, At(650, 0, WaitReason::kNone));
  evidence_.from_ns = 100 * kMs;
  evidence_.to_ns = 900 * kMs;
  evidence_.spans = {Span(0, 100, State::kWaiting), Span(100, 900, State::kRunning)};
  EXPECT_EQ(SplitWallTime(evidence_).uncounted_ns, 50 * kMs)
      << "350 ms of CPU time may be of before the incident: not more than 300 ms are";
  evidence_.from_ns = 0;
  evidence_.spans = {Span(0, 900, State::kRunning)};
  EXPECT_EQ(SplitWallTime(evidence_).uncounted_ns, 150 * kMs);
  readings_ = {};
  Read(0, At(0, 0, WaitReason::kBlocked));
  Read(800, At(790, 0, WaitReason::kNone));
  EXPECT_EQ(SplitWallTime(evidence_).uncounted_ns, 0u) << "readings are late by a tick";
}

TEST_F(WallTimeTest, ShortSpanIsBelievedBesideReadingsThatAreFarApart) {
  Read(0, At(0, 0, WaitReason::kNone));
  Read(1000, At(990, 0, WaitReason::kNone));
  evidence_.spans = {Span(0, 500, State::kRunning), Span(500, 510, State::kWaiting),
                     Span(510, 1000, State::kRunning)};
  EXPECT_THAT(Split(), ElementsAre("running 990 ftrace", "blocked 10 ftrace"));
}

TEST_F(WallTimeTest, WaitComesFromTheCallThenTheReadingThenTheStateThenTheWaker) {
  ThreadSpan wait = Span(0, 1000, State::kWaiting);
  wait.woken_by_process = true;
  evidence_.spans = {wait};
  EXPECT_THAT(Split(), ElementsAre("ipc 1000 ftrace ~"));
  evidence_.spans[0].uninterruptible = true;
  EXPECT_THAT(Split(), ElementsAre("disk 1000 ftrace"));
  Read(500, At(0, 0, WaitReason::kSleeping, SYS_clock_nanosleep));
  EXPECT_THAT(Split(), ElementsAre("sleeping 1000 system calls"));
  evidence_.waits = {Call(0, 1000, WaitClass::kJoin, 9)};
  EXPECT_THAT(Split(), ElementsAre("blocked 1000 hooks"));
}

TEST_F(WallTimeTest, PollIsIpcOnlyWhereAnotherProcessEndedIt) {
  evidence_.spans = {Span(0, 1000, State::kWaiting)};
  Read(500, At(0, 0, WaitReason::kDescriptor, SYS_ppoll));
  EXPECT_THAT(Split(), ElementsAre("blocked 1000 system calls"));
  evidence_.spans[0].woken_by_process = true;
  EXPECT_THAT(Split(), ElementsAre("ipc 1000 system calls"));
  Verdict verdict = SplitWallTime(evidence_);
  EXPECT_EQ(PhraseOf(verdict.shares[0]), "in ppoll");
}

TEST_F(WallTimeTest, SocketIsIpcOnlyWhereAnotherProcessEndedIt) {
  evidence_.spans = {Span(0, 1000, State::kWaiting)};
  evidence_.waits = {Call(0, 1000, WaitClass::kRead, 0, StackSample::FdClass::kSocket)};
  EXPECT_THAT(Split(), ElementsAre("blocked 1000 hooks"));
  evidence_.spans[0].woken_by_process = true;
  EXPECT_THAT(Split(), ElementsAre("ipc 1000 hooks"));
}

TEST_F(WallTimeTest, ShortWaitIsWhatTheReadingsBesideItAgreeOn) {
  evidence_.spans = {Span(0, 400, State::kRunning), Span(400, 410, State::kWaiting),
                     Span(410, 1000, State::kRunning)};
  Read(390, At(390, 0, WaitReason::kSleeping, SYS_clock_nanosleep));
  Read(420, At(410, 0, WaitReason::kSleeping, SYS_clock_nanosleep));
  EXPECT_THAT(Split(), ElementsAre("running 990 ftrace", "sleeping 10 system calls ~"));
  Read(430, At(414, 0, WaitReason::kDisk, SYS_fsync));
  evidence_.spans = {Span(0, 422, State::kRunning), Span(422, 428, State::kWaiting),
                     Span(428, 1000, State::kRunning)};
  EXPECT_THAT(Split(), ElementsAre("running 994 ftrace", "blocked 6 ftrace"));
}

TEST_F(WallTimeTest, OwnSwitchesAreCorrectedBySchedstat) {
  // Ten short waits and a long one, with 110 ms between wake-ups and CPU.
  evidence_.span_source = VerdictSource::kOwnSwitches;
  for (uint64_t i = 0; i < 10; ++i) {
    evidence_.spans.push_back(Span(20 * i, 20 * i + 10, State::kRunning));
    evidence_.spans.push_back(Span(20 * i + 10, 20 * i + 20, State::kWaiting));
  }
  evidence_.spans.push_back(Span(200, 1000, State::kWaiting));
  evidence_.waits = {Call(200, 1000, WaitClass::kMutex, 7)};
  Read(0, At(0, 0, WaitReason::kBlocked));
  Read(1000, At(100, 110, WaitReason::kBlocked, SYS_read));
  EXPECT_THAT(Split(),
              ElementsAre("running 100 perf switches", "runnable 110 schedstat", "lock 790 hooks"));
}

TEST_F(WallTimeTest, FaultsAreCarvedOutOfRunning) {
  evidence_.fault_cost_ns = 2 * kMs;
  evidence_.faults_told = true;
  evidence_.fault_times = {0, 1 * kMs, 10 * kMs, 600 * kMs};
  evidence_.spans = {Span(0, 500, State::kRunning), Span(500, 1000, State::kRunnable)};
  // The second came before the first could have cost that much; the last was another time's.
  EXPECT_THAT(Split(),
              ElementsAre("running 495 ftrace", "runnable 500 ftrace", "fault 5 fault count ~"));
}

TEST_F(WallTimeTest, FaultsThatReadingsCountedTakeNoMoreThanItRan) {
  evidence_.fault_cost_ns = 1 * kMs;
  Read(0, At(0, 0, WaitReason::kBlocked));
  ThreadReading after = At(300, 0, WaitReason::kSleeping);
  after.minor_faults = 5000;
  Read(1000, after);
  EXPECT_THAT(Split(), ElementsAre("sleeping 700 thread states", "fault 300 fault count ~"));
}

TEST_F(WallTimeTest, SumsExactlyWhateverTheEvidence) {
  std::mt19937 random(3);
  const auto pick = [&](uint64_t below) { return random() % below; };
  for (int round = 0; round < 500; ++round) {
    VerdictTimeline readings;
    WallTimeEvidence evidence;
    evidence.readings = pick(5) == 0 ? nullptr : &readings;
    uint64_t now = 0, run = 0, runnable = 0, faults = 0;
    for (int i = 0; i < 20; ++i) {
      now += pick(1000);
      ThreadReading reading;
      reading.sched_known = pick(5) != 0;
      reading.run_ns = run += pick(900);
      reading.runnable_ns = runnable += pick(900);
      reading.minor_faults = faults += pick(20);
      reading.wait = static_cast<WaitReason>(pick(8));
      reading.syscall = static_cast<int32_t>(pick(300));
      readings.Add(now, reading);
    }
    for (uint64_t at = pick(3000); at < 12000;) {
      ThreadSpan span;
      span.from_ns = at + (pick(3) == 0 ? pick(500) : 0);
      span.to_ns = at = span.from_ns + pick(900);
      span.state = static_cast<State>(pick(3));
      span.uninterruptible = pick(3) == 0;
      span.woken_by_process = pick(3) == 0;
      if (pick(10) != 0) evidence.spans.push_back(span);
    }
    for (uint64_t at = pick(3000); at < 12000;) {
      WaitSpan call;
      call.from_ns = at + pick(500);
      call.to_ns = at = call.from_ns + pick(900);
      constexpr WaitClass kClasses[] = {WaitClass::kMutex, WaitClass::kCondition, WaitClass::kRead,
                                        WaitClass::kFsync};
      call.begin.what = kClasses[pick(4)];
      call.begin.fd_class = static_cast<uint8_t>(pick(6));
      evidence.waits.push_back(call);
    }
    for (uint64_t at = 0; at < 12000; at += 1 + pick(200)) evidence.fault_times.push_back(at);
    evidence.faults_told = pick(2) == 0;
    evidence.fault_cost_ns = pick(300);
    if (pick(2) == 0) evidence.span_source = VerdictSource::kOwnSwitches;
    evidence.from_ns = pick(12000);
    evidence.to_ns = evidence.from_ns + pick(12000);
    const Verdict verdict = SplitWallTime(evidence);
    ASSERT_EQ(verdict.total_ns(), evidence.to_ns - evidence.from_ns) << round;
    CheckStretches(verdict, evidence.from_ns, evidence.to_ns);
    ASSERT_FALSE(HasFatalFailure()) << round;
  }
}

TEST_F(WallTimeTest, StretchesAreWhenTheKernelSaysTheyWere) {
  evidence_.spans = {Span(0, 100, State::kRunning), Span(100, 300, State::kRunnable),
                     Span(300, 900, State::kWaiting), Span(900, 1000, State::kRunning)};
  evidence_.spans[2].uninterruptible = true;
  EXPECT_THAT(Stretches(SplitWallTime(evidence_)),
              ElementsAre("0-100 running", "100-300 runnable", "300-900 disk", "900-1000 running"));
}

TEST_F(WallTimeTest, CallsHaveTheirTimeWithinAReading) {
  Read(0, At(0, 0, WaitReason::kBlocked));
  Read(1000, At(300, 0, WaitReason::kNone));
  evidence_.waits = {Call(200, 500, WaitClass::kMutex, 7),
                     Call(600, 1000, WaitClass::kFsync, 0, StackSample::FdClass::kFile)};
  EXPECT_THAT(Stretches(SplitWallTime(evidence_)),
              ElementsAre("0-200 running", "200-500 lock", "500-600 running", "600-1000 disk"));
}

TEST_F(WallTimeTest, StretchWithoutAnOrderHasAllItsShares) {
  Read(0, At(0, 0, WaitReason::kBlocked));
  Read(400, At(100, 0, WaitReason::kLock, SYS_futex));
  Read(1000, At(100, 0, WaitReason::kLock, SYS_futex));
  EXPECT_THAT(Stretches(SplitWallTime(evidence_)),
              ElementsAre("0-400 lock 300 running 100", "400-1000 lock"));
}

TEST_F(WallTimeTest, ShortStretchesJoinTheNextOnes) {
  evidence_.spans = {Span(0, 400, State::kRunning)};
  for (uint64_t us = 400'000; us < 600'000; us += 20) {
    for (const uint64_t from : {us, us + 10}) {
      ThreadSpan span = Span(0, 0, from == us ? State::kWaiting : State::kRunning);
      span.from_ns = from * 1000;
      span.to_ns = span.from_ns + 10'000;
      evidence_.spans.push_back(span);
    }
  }
  evidence_.spans.push_back(Span(600, 1000, State::kRunning));
  const Verdict verdict = SplitWallTime(evidence_);
  CheckStretches(verdict, 0, evidence_.to_ns);
  EXPECT_EQ(Stretches(verdict).front(), "0-400 running");
  EXPECT_EQ(verdict.stretches.back().to_ns, 1000 * kMs);
  EXPECT_GT(verdict.stretches.size(), 100u);
  EXPECT_LT(verdict.stretches.size(), 300u);
  uint64_t sum_ns = 0;
  for (const VerdictStretch& stretch : verdict.stretches) {
    for (const VerdictShare& share : stretch.shares) sum_ns += share.ns;
  }
  EXPECT_EQ(sum_ns, verdict.total_ns());
}

TEST_F(WallTimeTest, ABlinkDoesNotCutAStretch) {
  evidence_.spans = {Span(0, 500, State::kWaiting), Span(501, 1000, State::kWaiting)};
  ThreadSpan blink = Span(500, 501, State::kRunning);
  blink.to_ns = blink.from_ns + 1000;
  evidence_.spans[1].from_ns = blink.to_ns;
  evidence_.spans.insert(evidence_.spans.begin() + 1, blink);
  EXPECT_THAT(Stretches(SplitWallTime(evidence_)), ElementsAre("0-1000 blocked 999 running 0"));
}

TEST(VerdictTimeline, ForgettingKeepsTheBaseline) {
  VerdictTimeline timeline;
  for (uint64_t at : {0, 100, 200, 300}) {
    timeline.Add(at * kMs, At(at / 2, 0, WaitReason::kBlocked));
  }
  timeline.ForgetBefore(250 * kMs);
  ASSERT_EQ(timeline.points().size(), 2u);
  EXPECT_EQ(timeline.points()[0].time_ns, 200 * kMs);
  timeline.ForgetBefore(0);
  EXPECT_EQ(timeline.points().size(), 2u);
  EXPECT_TRUE(timeline.EndsInAWait());
}

}  // namespace
}  // namespace jankbox

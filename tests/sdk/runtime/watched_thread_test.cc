// Which incidents are sealed of a watched thread, and as what.
#include <gmock/gmock.h>

#include "tests/sdk/runtime/watched_thread_fixture.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(WatchedThreadTest, SlowMessageIsSealedOnceAtItsEnd) {
  Begin("Feed.bind", 100);
  LookUntil(1050);
  EXPECT_THAT(sealed_, IsEmpty()) << "a slow message is sealed when it is over";
  End(1060);
  LookUntil(2000);
  ASSERT_THAT(sealed_, SizeIs(1));
  const SealRequest& request = sealed_[0];
  EXPECT_EQ(request.kind, ReportKind::kSlowMessage);
  EXPECT_EQ(request.revision, 1u);
  EXPECT_FALSE(request.ongoing);
  EXPECT_EQ(request.what, "Feed.bind");
  EXPECT_EQ(request.begin_ns, At(100));
  EXPECT_EQ(request.end_ns, At(1060));
  EXPECT_EQ(request.tid, kUi);
  EXPECT_EQ(request.watched_index, 0u);
  EXPECT_EQ(request.held_ns, 0u);
  ASSERT_THAT(request.free, SizeIs(1));
  EXPECT_EQ(request.free[0].from_ns, At(100));
  EXPECT_EQ(request.free[0].to_ns, At(1060));
  EXPECT_FALSE(request.background);
  EXPECT_EQ(request.threads, nullptr);
  EXPECT_EQ(request.anr_limit_ns, 0u);
  EXPECT_EQ(request.sampler, "fake");
  EXPECT_THAT(request.notes, IsEmpty());
}

TEST_F(WatchedThreadTest, ThresholdItselfIsSlowAndLessIsNot) {
  Begin("short", 100);
  LookUntil(750);
  End(799);
  LookUntil(950);
  EXPECT_THAT(sealed_, IsEmpty());
  Begin("long", 1000);
  LookUntil(1650);
  End(1700);
  LookUntil(1800);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].what, "long");
}

TEST_F(WatchedThreadTest, MessageThatWasNeverSeenRunningIsSealedToo) {
  Look(50);
  ring_.Dispatch(0, "between", At(60), At(860));
  Look(900);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].what, "between");
  EXPECT_EQ(sealed_[0].begin_ns, At(60));
}

TEST_F(WatchedThreadTest, SlowMessageThatEndedUnseenIsCounted) {
  LookUntil(50);
  ring_.Dispatch(0, "hidden", At(60), At(860));
  ring_.Dispatch(0, "seen", At(900), At(1700));
  for (uint64_t ms = 1750; ms < 3000; ms += 50) Look(ms);
  ASSERT_EQ(sealed_.size(), 1u);
  EXPECT_EQ(sealed_[0].what, "seen");
  EXPECT_EQ(refusals_.count(RefusalReason::kWatcherLate), 1u);
}

TEST_F(WatchedThreadTest, SlowMessageThatWasSeenRunningIsNoneOfThoseThatEndedUnseen) {
  Begin("first", 100);
  LookUntil(850);
  End(900);
  ring_.Dispatch(0, "second", At(950), At(1750));
  Look(1800);
  ASSERT_THAT(sealed_, SizeIs(2));
  EXPECT_EQ(sealed_[0].what, "first");
  EXPECT_EQ(sealed_[0].end_ns, At(900)) << "the time of both together is known";
  EXPECT_EQ(sealed_[1].what, "second");
  EXPECT_EQ(refusals_.count(RefusalReason::kWatcherLate), 0u);
  Begin("third", 2000);
  next_ms_ = 2050;
  LookUntil(2800);
  End(2850);
  ring_.Dispatch(0, "hidden", At(2900), At(3700));
  ring_.Dispatch(0, "fifth", At(3800), At(4600));
  Look(4650);
  ASSERT_THAT(sealed_, SizeIs(4));
  EXPECT_EQ(sealed_[2].what, "third");
  EXPECT_EQ(sealed_[3].what, "fifth");
  EXPECT_EQ(refusals_.count(RefusalReason::kWatcherLate), 1u);
}

// The watcher loses the CPU between two steps of a look.
TEST_F(WatchedThreadTest, SlowMessageThatEndedDuringALookIsNotCountedTwice) {
  Begin("first", 100);
  state_.while_read = [this] {
    End(900);
    ring_.Dispatch(0, "second", At(950), At(1750));
  };
  Look(850);
  for (uint64_t ms = 1800; ms < 2000; ms += 50) Look(ms);
  std::vector<std::string> sealed;
  for (const SealRequest& request : sealed_) sealed.push_back(request.what);
  EXPECT_THAT(sealed, ElementsAre("second"));
  EXPECT_EQ(refusals_.count(RefusalReason::kWatcherLate), 1u);
}

TEST_F(WatchedThreadTest, SlowMessageThatLastsIsALag) {
  Begin("sync", 100);
  LookUntil(2150);
  End(2200);
  LookUntil(2300);
  ASSERT_THAT(sealed_, SizeIs(1)) << "a lag is no reason for a report of its own before the end";
  EXPECT_EQ(sealed_[0].kind, ReportKind::kLag);
  EXPECT_EQ(sealed_[0].end_ns, At(2200));
}

TEST_F(WatchedThreadTest, AnrIsSealedWhileItLastsAndAgainAtItsEnd) {
  state_.threads.threads.push_back({.told = {.tid = kUi, .name = "main"}});
  Begin("lock", 1000);
  LookUntil(5950);
  EXPECT_THAT(sealed_, IsEmpty());
  LookUntil(6000);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kAnr);
  EXPECT_TRUE(sealed_[0].ongoing);
  EXPECT_EQ(sealed_[0].revision, 1u);
  EXPECT_EQ(sealed_[0].end_ns, At(6000)) << "as far as it was looked at";
  EXPECT_EQ(sealed_[0].anr_limit_ns, 5 * kNsPerSecond);
  ASSERT_NE(sealed_[0].threads, nullptr);
  EXPECT_THAT(sealed_[0].threads->threads, SizeIs(1));
  LookUntil(8000);
  End(8010);
  LookUntil(8100);
  ASSERT_THAT(sealed_, SizeIs(2)) << "nothing between the raise and the end";
  EXPECT_EQ(sealed_[1].id, sealed_[0].id);
  EXPECT_EQ(sealed_[1].revision, 2u);
  EXPECT_EQ(sealed_[1].kind, ReportKind::kAnr) << "an ANR stays one";
  EXPECT_FALSE(sealed_[1].ongoing);
  EXPECT_EQ(sealed_[1].end_ns, At(8010));
  EXPECT_EQ(sealed_[1].threads, sealed_[0].threads) << "a later revision removes nothing";
  EXPECT_EQ(state_.dumps, 1u);
}

TEST_F(WatchedThreadTest, StartUpIsReportedOnlyWhenALoopEndsIt) {
  Begin("start-up", 1000);
  LookUntil(9000);
  EXPECT_THAT(sealed_, IsEmpty()) << "a main thread without a loop waits for other threads";
  End(9010);
  LookUntil(9100);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].begin_ns, At(1000));
  EXPECT_EQ(sealed_[0].end_ns, At(9010));
}

TEST_F(WatchedThreadTest, StartUpIsSampledLessOftenThanAMessage) {
  Begin("start-up", 1000);
  LookUntil(2000);
  const auto ui = [this] { return state_.sampler_of.at(kUi).get(); };
  EXPECT_TRUE(ui()->running);
  EXPECT_EQ(ui()->times, 4u);
  EXPECT_EQ(Thread().NextLookNs(At(2000)), 4 * options_.sample_interval_ms * kNsPerMs);
  const uint32_t looks = ui()->collects;
  End(2010);
  Begin("Feed.bind", 2015);
  LookUntil(2450);
  EXPECT_EQ(ui()->times, 1u);
  EXPECT_GT(ui()->collects, looks);
  EXPECT_EQ(Thread().NextLookNs(At(2450)), options_.sample_interval_ms * kNsPerMs);
}

TEST_F(WatchedThreadTest, StartUpIsNotSampledWhileAnotherThreadHasTheUi) {
  Begin("start-up", 1000);
  Thread().NoteOtherUi(true);
  LookUntil(2000);
  EXPECT_FALSE(Thread().NeedsCpuAccount(true));
  EXPECT_EQ(Thread().running_since_ns(), 0u);
  End(2010);
  Begin("Feed.bind", 2020);
  LookUntil(3500);
  EXPECT_TRUE(Thread().NeedsCpuAccount(true));
  EXPECT_EQ(Thread().running_since_ns(), At(2020));
}

TEST_F(WatchedThreadTest, NoteInTheRingFollowsTheIncident) {
  Look(50);
  EXPECT_EQ(NoteState(), RingIncidentState::kNone);
  Begin("lock", 100);
  LookUntil(750);
  EXPECT_EQ(NoteState(), RingIncidentState::kNone);
  LookUntil(850);
  EXPECT_EQ(NoteState(), RingIncidentState::kGrowing);
  EXPECT_EQ(Note().kind.load(), static_cast<uint32_t>(ReportKind::kSlowMessage));
  EXPECT_EQ(Note().begin_ticks.load(), At(100));
  EXPECT_EQ(Note().end_ticks.load(), 0u);
  EXPECT_EQ(Note().sealed_revision.load(), 0u);
  LookUntil(5150);
  EXPECT_EQ(Note().kind.load(), static_cast<uint32_t>(ReportKind::kAnr));
  EXPECT_EQ(Note().sealed_revision.load(), 1u) << "recovery must not use its number again";
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(ReadWordText(Note().id), sealed_[0].id);
  End(5200);
  LookUntil(5300);
  EXPECT_EQ(NoteState(), RingIncidentState::kFinished);
  EXPECT_EQ(Note().end_ticks.load(), At(5200));
  EXPECT_EQ(Note().sealed_revision.load(), 2u);
}

TEST_F(WatchedThreadTest, NextIncidentHasAnIdAndRevisionsOfItsOwn) {
  Begin("first", 100);
  LookUntil(5200);
  End(5210);
  LookUntil(5300);
  Begin("second", 5310);
  LookUntil(6100);
  End(6150);
  LookUntil(6300);
  ASSERT_THAT(sealed_, SizeIs(3));
  EXPECT_NE(sealed_[2].id, sealed_[0].id);
  EXPECT_EQ(sealed_[2].revision, 1u);
  EXPECT_EQ(sealed_[2].what, "second");
  EXPECT_EQ(sealed_[2].threads, nullptr) << "those are the ANR's";
  EXPECT_EQ(ReadWordText(Note().id), sealed_[2].id);
  EXPECT_EQ(Note().sealed_revision.load(), 1u);
}

TEST_F(WatchedThreadTest, LateFrameInASlowMessageIsTheSameIncident) {
  Begin("doFrame", 100);
  LookUntil(1000);
  Frame(150, 1040);
  End(1050);
  LookUntil(2000);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kSlowMessage);
  EXPECT_EQ(sealed_[0].dropped_frames, 52u) << "890 ms are 52 intervals too many";
  EXPECT_EQ(sealed_[0].frame_interval_ns, 16'666'667u);
}

TEST_F(WatchedThreadTest, LateFrameInAnAnrIsKnownToItsLastRevision) {
  Begin("doFrame", 100);
  LookUntil(6000);
  Frame(150, 6040);
  End(6050);
  LookUntil(7000);
  ASSERT_THAT(sealed_, SizeIs(2));
  EXPECT_EQ(sealed_[0].dropped_frames, 0u);
  EXPECT_GT(sealed_[1].dropped_frames, 300u);
  EXPECT_EQ(sealed_[1].id, sealed_[0].id);
}

TEST_F(WatchedThreadTest, LateFrameOfAShortMessageIsJank) {
  Begin("doFrame", 100);
  LookUntil(300);
  Frame(110, 390);
  End(400);
  LookUntil(500);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kJank);
  EXPECT_EQ(sealed_[0].begin_ns, At(110));
  EXPECT_EQ(sealed_[0].end_ns, At(390));
  EXPECT_EQ(sealed_[0].what, "doFrame");
  EXPECT_EQ(sealed_[0].dropped_frames, 15u);
}

TEST_F(WatchedThreadTest, FrameThatIsNotLateIsNothing) {
  Begin("doFrame", 100);
  Frame(110, 200);  // five intervals too many: below the band
  End(205);
  LookUntil(400);
  EXPECT_THAT(sealed_, IsEmpty());
}

TEST_F(WatchedThreadTest, NewFrameIsSeenForOneLook) {
  Look(50);
  EXPECT_EQ(Thread().new_frame_ns(), 0u);
  Frame(60, 70);
  Look(100);
  EXPECT_EQ(Thread().new_frame_ns(), At(70));
  Look(150);
  EXPECT_EQ(Thread().new_frame_ns(), 0u);
}

TEST_F(WatchedThreadTest, RunningSinceIsTheDispatchThatRunsNow) {
  Look(50);
  EXPECT_EQ(Thread().running_since_ns(), 0u);
  Begin("a", 60);
  Look(100);
  EXPECT_EQ(Thread().running_since_ns(), At(60));
  End(120);
  Look(150);
  EXPECT_EQ(Thread().running_since_ns(), 0u);
}

TEST_F(WatchedThreadTest, TimeInAStopIsNotCounted) {
  Begin("a", 100);
  LookUntil(200);
  Hold(RefusalReason::kStopped, 250, 1050);
  next_ms_ = 1100;
  LookUntil(1450);
  End(1500);  // 1,400 ms, of which 800 were stopped
  LookUntil(1600);
  EXPECT_THAT(sealed_, IsEmpty());
  EXPECT_EQ(refusals_.count(RefusalReason::kStopped), 1u) << "no incident is dropped uncounted";
}

TEST_F(WatchedThreadTest, WhatIsLeftBesideAStopIsReported) {
  Begin("a", 100);
  LookUntil(200);
  Hold(RefusalReason::kStopped, 250, 1050);
  next_ms_ = 1100;
  LookUntil(1950);
  End(2000);
  LookUntil(2100);
  ASSERT_THAT(sealed_, SizeIs(1));
  const SealRequest& request = sealed_[0];
  EXPECT_EQ(request.kind, ReportKind::kSlowMessage);
  EXPECT_EQ(request.held_ns, 800 * kNsPerMs);
  ASSERT_THAT(request.free, SizeIs(2));
  EXPECT_EQ(request.free[0].from_ns, At(100));
  EXPECT_EQ(request.free[0].to_ns, At(250));
  EXPECT_EQ(request.free[1].from_ns, At(1050));
  EXPECT_EQ(request.free[1].to_ns, At(2000));
  EXPECT_THAT(request.notes, ElementsAre(HasSubstr("800 ms")));
  EXPECT_EQ(refusals_.count(RefusalReason::kStopped), 0u);
}

TEST_F(WatchedThreadTest, SleepOfTheMachinePutsAnAnrOff) {
  Begin("a", 1000);
  LookUntil(3000);
  Hold(RefusalReason::kSuspended, 3000, 5000);
  next_ms_ = 5050;
  LookUntil(7950);
  EXPECT_THAT(sealed_, IsEmpty());
  LookUntil(8000);  // 5 s without the 2 s of sleep
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kAnr);
  EXPECT_EQ(sealed_[0].held_ns, 2 * kNsPerSecond);
}

TEST_F(WatchedThreadTest, StarvedWatcherIsNotTheAppsAnr) {
  Begin("a", 1000);
  LookUntil(1500);
  Hold(RefusalReason::kWatcherLate, 1500, 5500);
  next_ms_ = 5500;
  LookUntil(6950);
  End(7000);
  LookUntil(7100);
  ASSERT_THAT(sealed_, SizeIs(1)) << "it was slow all the same";
  EXPECT_EQ(sealed_[0].kind, ReportKind::kLag);
  EXPECT_EQ(sealed_[0].held_ns, 0u) << "the thread may have run meanwhile";
  EXPECT_EQ(refusals_.count(RefusalReason::kWatcherLate), 1u);
  EXPECT_THAT(sealed_[0].notes, ElementsAre(HasSubstr("got no CPU")));
}

TEST_F(WatchedThreadTest, DebuggerMakesNoAnr) {
  state_.traced = true;
  Begin("a", 1000);
  LookUntil(6500);
  EXPECT_THAT(sealed_, IsEmpty());
  state_.traced = false;  // it leaves; the time that it cost stays
  LookUntil(7500);
  EXPECT_THAT(sealed_, IsEmpty());
  End(7550);
  LookUntil(7700);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kLag);
  EXPECT_EQ(refusals_.count(RefusalReason::kTraced), 1u);
  EXPECT_EQ(state_.dumps, 0u);
}

TEST_F(WatchedThreadTest, TimeInATracingStopIsHeld) {
  Begin("a", 1000);
  LookUntil(1100);
  state_.reading.state = 't';
  LookUntil(2100);  // seen stopped from 1,150 on
  state_.reading.state = 'S';
  LookUntil(2900);
  End(2950);
  LookUntil(3000);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].held_ns, 1000 * kNsPerMs);
  EXPECT_EQ(sealed_[0].kind, ReportKind::kSlowMessage) << "950 ms of its own";
  EXPECT_THAT(sealed_[0].notes, ElementsAre(HasSubstr("debugger")));
}

TEST_F(WatchedThreadTest, InTheBackgroundAnAnrTakesLonger) {
  g_in_front_since_ns.store(0, std::memory_order_relaxed);
  Begin("a", 1000);
  LookUntil(10950);
  EXPECT_THAT(sealed_, IsEmpty());
  LookUntil(11000);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kAnr);
  EXPECT_TRUE(sealed_[0].background);
  EXPECT_EQ(sealed_[0].anr_limit_ns, 10 * kNsPerSecond);
}

TEST_F(WatchedThreadTest, AnrThatTheBackgroundExcusedIsCounted) {
  g_in_front_since_ns.store(0, std::memory_order_relaxed);
  Begin("a", 1000);
  LookUntil(6950);
  End(7000);
  LookUntil(7100);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kLag);
  EXPECT_EQ(refusals_.count(RefusalReason::kBackground), 1u);
}

TEST_F(WatchedThreadTest, AppThatJustCameToTheFrontHasItsWholeTime) {
  g_in_front_since_ns.store(At(4000), std::memory_order_relaxed);
  Begin("a", 1000);
  LookUntil(8950);
  EXPECT_THAT(sealed_, IsEmpty()) << "in front for less than the limit";
  LookUntil(9000);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].anr_limit_ns, 5 * kNsPerSecond);
}

TEST_F(WatchedThreadTest, SystemsWordLowersTheLimit) {
  Begin("a", 1000);
  LookUntil(3500);
  EXPECT_THAT(sealed_, IsEmpty());
  Look(3520, true);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kAnr);
  EXPECT_EQ(sealed_[0].anr_limit_ns, 2 * kNsPerSecond);
}

TEST_F(WatchedThreadTest, LowerThresholdsHoldFromTheNextLookOn) {
  Begin("a", 1000);
  LookUntil(1400);
  Thresholds lower = options_;
  lower.slow_message_ns = 300 * kNsPerMs;
  lower.anr_ns = 600 * kNsPerMs;
  Thread().SetThresholds(lower);
  ring_.slow_ns = lower.slow_message_ns;
  EXPECT_EQ(NoteState(), RingIncidentState::kNone);
  LookUntil(1450);
  EXPECT_EQ(NoteState(), RingIncidentState::kGrowing);
  LookUntil(1600);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kAnr);
  EXPECT_EQ(sealed_[0].anr_limit_ns, 600 * kNsPerMs);
}

TEST_F(WatchedThreadTest, HigherThresholdsDoNotForgetWhatIsGrowing) {
  Begin("a", 1000);
  LookUntil(1800);
  EXPECT_EQ(NoteState(), RingIncidentState::kGrowing);
  Thresholds higher = options_;
  higher.slow_message_ns = 3 * kNsPerSecond;
  Thread().SetThresholds(higher);
  ring_.slow_ns = higher.slow_message_ns;  // so that the thread does not note its end
  LookUntil(1900);
  End(1920);
  LookUntil(1950);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kSlowMessage);
  EXPECT_EQ(sealed_[0].end_ns, At(1950)) << "its end was not noted: when it was seen to be over";
}

TEST_F(WatchedThreadTest, ThreadThatEndedInADispatchBlocksNobody) {
  Begin("quit", 1000);
  LookUntil(1300);
  state_.gone = true;
  LookUntil(7000);
  EXPECT_THAT(sealed_, IsEmpty());
  EXPECT_TRUE(Thread().IsGone());
}

TEST_F(WatchedThreadTest, ThreadThatEndsInASlowMessageClosesIt) {
  Begin("quit", 1000);
  LookUntil(1800);
  state_.gone = true;
  LookUntil(2500);
  ASSERT_THAT(sealed_, SizeIs(1));
  EXPECT_EQ(sealed_[0].kind, ReportKind::kSlowMessage);
  EXPECT_FALSE(sealed_[0].ongoing);
  EXPECT_EQ(sealed_[0].end_ns, At(1850));
}

}  // namespace
}  // namespace jankbox

#include "monitors/method/thread_calls.h"

#include <gmock/gmock.h>

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

enum Method : uint32_t { kMain = 1, kInit, kLoad, kParse, kStep };

// A call of 100 ticks is slow.
class ThreadCallsTest : public testing::Test, protected MethodJudge {
 protected:
  static constexpr uint64_t kSlow = 100;

  uint64_t OnEnded(const MethodCall& call, uint64_t reported) override {
    const uint64_t length = call.end_ticks - call.begin_ticks;
    if (length < kSlow + reported) return 0;
    slow_.push_back(call.id);
    last_ = call;
    return length;
  }
  void Event(EventKind kind, uint32_t id, uint64_t ticks) {
    calls_.Apply({.kind = kind, .id = id, .ticks = ticks, .payload = {}});
  }
  void Begin(uint32_t id, uint64_t ticks) { Event(EventKind::kBegin, id, ticks); }
  void End(uint32_t id, uint64_t ticks) { Event(EventKind::kEnd, id, ticks); }
  void BeginDispatch(uint64_t ticks) { Event(EventKind::kDispatchBegin, 4, ticks); }
  void EndDispatch(uint64_t ticks) { Event(EventKind::kDispatchEnd, 0, ticks); }
  void Call(uint32_t id, uint64_t from, uint64_t to) {
    Begin(id, from);
    End(id, to);
  }
  uint32_t Suspect() const {
    const auto suspect = calls_.suspect();
    return suspect ? suspect->id : 0;
  }

  ThreadCalls calls_{this};
  std::vector<uint32_t> slow_;  // ids
  MethodCall last_;
};

TEST_F(ThreadCallsTest, CallThatTookLongIsFoundAtItsEnd) {
  Begin(kMain, 0);
  Begin(kLoad, 10);
  EXPECT_EQ(Suspect(), kLoad);
  EXPECT_THAT(slow_, IsEmpty());
  End(kLoad, 110);
  EXPECT_THAT(slow_, ElementsAre(kLoad));
  EXPECT_EQ(last_.begin_ticks, 10u);
  EXPECT_EQ(last_.end_ticks, 110u);
  Call(kParse, 120, 219);
  EXPECT_THAT(slow_, ElementsAre(kLoad)) << "99 ticks";
}

TEST_F(ThreadCallsTest, InnermostOfNestedCallsIsTheSlowOne) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  Begin(kLoad, 11);
  Call(kParse, 12, 200);
  End(kLoad, 201);
  End(kInit, 220);
  EXPECT_THAT(slow_, ElementsAre(kParse));
}

TEST_F(ThreadCallsTest, CallAroundASlowOneIsFoundForTheRestOfItsTime) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  Call(kLoad, 20, 130);
  Call(kLoad, 140, 250);
  for (uint64_t at = 260; at < 360; at += 10) Call(kStep, at, at + 9);
  End(kInit, 370);
  EXPECT_THAT(slow_, ElementsAre(kLoad, kLoad, kInit)) << "140 of 360 ticks are not theirs";
}

TEST_F(ThreadCallsTest, CallAroundASlowOneIsNotFoundForTheSameTime) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  Call(kLoad, 20, 130);
  Call(kLoad, 140, 250);
  End(kInit, 300);
  EXPECT_THAT(slow_, ElementsAre(kLoad, kLoad));
}

TEST_F(ThreadCallsTest, TimeIsCountedOnceThroughThreeLevels) {
  Begin(kMain, 0);
  Begin(kInit, 0);
  Begin(kLoad, 0);
  Call(kParse, 0, 150);
  End(kLoad, 300);  // 150 of its own
  End(kInit, 390);  // 90 of its own
  EXPECT_THAT(slow_, ElementsAre(kParse, kLoad));
}

TEST_F(ThreadCallsTest, CallsInADispatchAreNone) {
  Call(kStep, 0, 1);
  BeginDispatch(10);
  Begin(kLoad, 20);
  EXPECT_EQ(Suspect(), 0u);
  End(kLoad, 900);
  EndDispatch(910);
  EXPECT_THAT(slow_, IsEmpty());
}

TEST_F(ThreadCallsTest, CallThatContainsADispatchIsNone) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  BeginDispatch(20);
  EndDispatch(30);
  EXPECT_EQ(Suspect(), 0u);
  Begin(kLoad, 40);
  EXPECT_EQ(Suspect(), kLoad) << "the dispatch is over";
  End(kLoad, 400);
  End(kInit, 900);
  EXPECT_THAT(slow_, ElementsAre(kLoad));
}

TEST_F(ThreadCallsTest, NestedDispatchesEndOneByOne) {
  Call(kStep, 0, 1);
  BeginDispatch(10);
  BeginDispatch(11);
  EndDispatch(12);
  Call(kLoad, 20, 500);
  EndDispatch(510);
  EXPECT_THAT(slow_, IsEmpty()) << "the outer one runs";
  Call(kLoad, 520, 900);
  EXPECT_THAT(slow_, ElementsAre(kLoad));
}

TEST_F(ThreadCallsTest, CallThatContainsAFrameIsNone) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  Event(EventKind::kFrame, 0, 50);
  End(kInit, 900);
  EXPECT_THAT(slow_, IsEmpty());
}

TEST_F(ThreadCallsTest, CallInWhichTheThreadWaitedIsNone) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  calls_.RuleOut();
  EXPECT_EQ(Suspect(), 0u);
  Call(kLoad, 20, 200);
  End(kInit, 900);
  EXPECT_THAT(slow_, ElementsAre(kLoad)) << "that began later";
}

TEST_F(ThreadCallsTest, MainFunctionOfAThreadIsNone) {
  Begin(kMain, 0);
  EXPECT_TRUE(calls_.suspect()->outermost);
  End(kMain, 900);
  EXPECT_EQ(calls_.awaits_confirmation(), 900u);
  calls_.EndThread(901);
  EXPECT_THAT(slow_, IsEmpty());
}

TEST_F(ThreadCallsTest, MainFunctionThatNeverEndsIsNone) {
  Begin(kMain, 0);
  calls_.EndThread(901);
  EXPECT_THAT(slow_, IsEmpty());
}

TEST_F(ThreadCallsTest, FirstCallOfAThreadThatGoesOnIsAnOrdinaryOne) {
  Call(kLoad, 0, 900);
  EXPECT_THAT(slow_, IsEmpty()) << "the thread may end now";
  Begin(kStep, 910);
  EXPECT_THAT(slow_, ElementsAre(kLoad));
  End(kStep, 911);
  calls_.ConfirmAlive();
  EXPECT_THAT(slow_, ElementsAre(kLoad)) << "once";
}

TEST_F(ThreadCallsTest, FirstCallOfAThreadThatIsSeenAliveIsAnOrdinaryOne) {
  Call(kLoad, 0, 900);
  calls_.ConfirmAlive();
  EXPECT_THAT(slow_, ElementsAre(kLoad));
}

TEST_F(ThreadCallsTest, CallsThatAThreadLeavesByItsEndHaveEnded) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  Begin(kLoad, 200);
  calls_.EndThread(250);
  EXPECT_THAT(slow_, ElementsAre(kInit));
  EXPECT_EQ(last_.end_ticks, 250u);
}

TEST_F(ThreadCallsTest, CallWhoseEndIsMissingIsNotJudged) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  Begin(kLoad, 20);  // left by an exception
  End(kInit, 900);
  EXPECT_THAT(slow_, ElementsAre(kInit));
  End(kLoad, 2000);
  EXPECT_THAT(slow_, ElementsAre(kInit)) << "an end without a begin closes nothing";
}

TEST_F(ThreadCallsTest, DeepRecursionIsCounted) {
  Begin(kMain, 0);
  Begin(kInit, 1);
  for (uint64_t i = 0; i < 1000; ++i) Begin(kStep, 2 + i);
  for (uint64_t i = 0; i < 1000; ++i) End(kStep, 1100 + i);
  slow_.clear();
  Begin(kLoad, 2200);
  EXPECT_EQ(Suspect(), kLoad);
  End(kLoad, 2400);
  EXPECT_THAT(slow_, ElementsAre(kLoad));
}

// --- Missing events

OpenCall Open(uint32_t id, uint64_t ticks) { return {id, EventKind::kBegin, ticks}; }

TEST_F(ThreadCallsTest, CallThatIsStillOpenAfterAGapGoesOn) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  Begin(kLoad, 20);
  calls_.Resume({Open(kMain, 0), Open(kInit, 10), Open(kParse, 300)}, 0, /*seen_ticks=*/50);
  EXPECT_THAT(slow_, IsEmpty()) << "kLoad was seen for 30 ticks";
  End(kParse, 450);
  End(kInit, 460);
  EXPECT_THAT(slow_, ElementsAre(kParse, kInit));
  EXPECT_EQ(last_.begin_ticks, 10u);
}

TEST_F(ThreadCallsTest, CallThatEndedInAGapLastedAtLeastAsLongAsItWasSeen) {
  Begin(kMain, 0);
  Begin(kLoad, 10);
  calls_.Resume({Open(kMain, 0)}, 0, /*seen_ticks=*/300);
  EXPECT_THAT(slow_, ElementsAre(kLoad));
  EXPECT_EQ(last_.end_ticks, 300u);
}

TEST_F(ThreadCallsTest, WhatWasRuledOutBeforeAGapStaysSo) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  calls_.RuleOut();
  calls_.Resume({Open(kMain, 0), Open(kInit, 10)}, 0, 50);
  EXPECT_EQ(Suspect(), 0u);
  End(kInit, 900);
  EXPECT_THAT(slow_, IsEmpty());
}

TEST_F(ThreadCallsTest, SecondCallOfTheSameMethodIsAnotherOne) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  calls_.RuleOut();
  calls_.Resume({Open(kMain, 0), Open(kInit, 200)}, 0, 50);
  EXPECT_EQ(Suspect(), kInit);
}

TEST_F(ThreadCallsTest, DispatchThatBeganInAGapIsNoticed) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  calls_.Resume(
      {Open(kMain, 0), Open(kInit, 10), {0, EventKind::kDispatchBegin, 300}, Open(kLoad, 310)}, 0,
      50);
  EXPECT_EQ(Suspect(), 0u);
  End(kLoad, 900);
  EndDispatch(910);
  End(kInit, 920);
  EXPECT_THAT(slow_, IsEmpty());
}

TEST_F(ThreadCallsTest, CallsThatAChunkDoesNotListAreCounted) {
  calls_.Resume({Open(kMain, 0), Open(kInit, 10)}, /*truncated=*/3, 50);
  for (int i = 0; i < 3; ++i) End(kStep, 400);
  EXPECT_THAT(slow_, IsEmpty());
  End(kInit, 500);
  EXPECT_THAT(slow_, ElementsAre(kInit));
}

TEST_F(ThreadCallsTest, ThreadThatIsSeenLateHasItsMainFunctionOpen) {
  calls_.Resume({Open(kMain, 0)}, 0, 0);
  End(kMain, 900);
  calls_.EndThread(901);
  EXPECT_THAT(slow_, IsEmpty());
}

TEST_F(ThreadCallsTest, GapIsOfInterestIfACallThatMayBeSlowEndedInIt) {
  Begin(kMain, 0);
  Begin(kInit, 10);
  const std::vector<OpenCall> none = {Open(kMain, 0)};
  EXPECT_TRUE(calls_.HasEnded(none, /*begin_ticks=*/10));
  EXPECT_FALSE(calls_.HasEnded(none, /*begin_ticks=*/9)) << "it began too late to be slow";
  EXPECT_FALSE(calls_.HasEnded({Open(kMain, 0), Open(kInit, 10)}, 10));
  calls_.RuleOut();
  EXPECT_FALSE(calls_.HasEnded(none, 10));
}

}  // namespace
}  // namespace jankbox

// Slices of one thread: what WriteSnapshot makes of its events, whatever is missing among them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kTid = 11;

// The slices of a thread with these chunks in a window from 1,000 to 2,000.
TestSnapshot SnapshotOf(std::vector<WindowChunk> chunks) {
  return Snapshot(MakeWindow(1000, 2000, {MakeThread(kTid, std::move(chunks))}));
}

std::vector<std::string> Lines(const TestSnapshot& snapshot) {
  return Describe(snapshot.trace.slices, kTid);
}

TEST(ThreadSlices, CallsBecomeNestedSlices) {
  const TestSnapshot snapshot = SnapshotOf({MakeChunk(
      {Begin(1, 1100), Begin(2, 1110), End(2, 1120), Begin(2, 1130), End(2, 1150), End(1, 1200)})});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+100 0 m1", "1110+10 1 m2", "1130+20 1 m2"));
  EXPECT_EQ(snapshot.stats.slices, 3u);
  EXPECT_EQ(snapshot.stats.unmatched_ends, 0u);
  EXPECT_EQ(snapshot.stats.open_slices, 0u);
  EXPECT_EQ(snapshot.trace.slices[0].category, "method");
  EXPECT_EQ(snapshot.trace.threads.at(kTid), "thread-11");
}

TEST(ThreadSlices, EndClosesWhatWasLeftOpenAboveIt) {
  const TestSnapshot snapshot =
      SnapshotOf({MakeChunk({Begin(1, 1100), Begin(2, 1110), Begin(3, 1120), End(1, 1200)})});
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("1100+100 0 m1", "1110+90 1 m2 end_missing", "1120+80 2 m3 end_missing"));
  EXPECT_EQ(snapshot.stats.unmatched_ends, 0u);
}

TEST(ThreadSlices, DispatchEndClosesItsMethods) {
  const TestSnapshot snapshot =
      SnapshotOf({MakeChunk({DispatchBegin("Handler (a.b.C) $1", 1100), Begin(1, 1110),
                             DispatchEnd(1200), DispatchBegin("", 1300), DispatchEnd(1310)})});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+100 0 Handler (a.b.C) $1",
                                           "1110+90 1 m1 end_missing", "1300+10 0 dispatch"));
  EXPECT_EQ(snapshot.trace.slices[0].category, "dispatch");
}

TEST(ThreadSlices, LongestDispatchNameIsKept) {
  const std::string name = "a word abcdefghijABCDEFGHIJ a word abcdefghijABCDEFGHIJs";
  ASSERT_EQ(name.size(), kMaxDispatchNameBytes);
  EXPECT_THAT(Lines(SnapshotOf({MakeChunk({DispatchBegin(name, 1100), DispatchEnd(1101)})})),
              ElementsAre("1100+1 0 " + name));
}

TEST(ThreadSlices, EndWithoutBeginIsDroppedAndCounted) {
  const TestSnapshot snapshot = SnapshotOf(
      {MakeChunk({End(3, 1090), Begin(1, 1100), End(2, 1150), DispatchEnd(1160), End(1, 1200)})});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+100 0 m1"));
  EXPECT_EQ(snapshot.stats.unmatched_ends, 3u);
}

TEST(ThreadSlices, OpenCallsEndWithTheWindowAndSaySo) {
  const TestSnapshot snapshot = SnapshotOf({MakeChunk({Begin(1, 1100), Begin(2, 1200)})});
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("1100+900 0 m1 open_at_window_end", "1200+800 1 m2 open_at_window_end"));
  EXPECT_EQ(snapshot.stats.open_slices, 2u);
}

TEST(ThreadSlices, CallsOpenBeforeTheFirstChunkKeepTheirBegin) {
  const TestSnapshot snapshot = SnapshotOf({MakeChunk({End(2, 1500)}, 1400,
                                                      {{0, EventKind::kDispatchBegin, 40},
                                                       {1, EventKind::kBegin, 50},
                                                       {2, EventKind::kBegin, 1300}})});
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("40+1960 0 dispatch began_before_window open_at_window_end",
                          "50+1950 1 m1 began_before_window open_at_window_end", "1300+200 2 m2"));
}

TEST(ThreadSlices, EventsBeforeTheWindowOnlyTellWhatWasOpen) {
  const TestSnapshot snapshot = SnapshotOf({MakeChunk({Begin(1, 100),
                                                       Begin(2, 200),
                                                       End(2, 300),
                                                       End(7, 350),
                                                       Begin(3, 400),
                                                       {EventKind::kInstant, 4, 500},
                                                       End(3, 1100),
                                                       End(1, 1200)})});
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("100+1100 0 m1 began_before_window", "400+700 1 m3 began_before_window"));
  EXPECT_THAT(snapshot.trace.instants, IsEmpty());
  EXPECT_EQ(snapshot.stats.unmatched_ends, 0u);
}

TEST(ThreadSlices, BlockedThreadWithoutEventsInTheWindowIsDrawn) {
  EXPECT_THAT(Lines(SnapshotOf({MakeChunk({Begin(1, 100)})})),
              ElementsAre("100+1900 0 m1 began_before_window open_at_window_end"));
}

TEST(ThreadSlices, EventsAfterTheWindowAreIgnored) {
  const TestSnapshot snapshot = SnapshotOf(
      {MakeChunk({Begin(1, 1100), End(1, 2001), Begin(2, 2002)}), MakeChunk({End(2, 2100)}, 2050)});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+900 0 m1 open_at_window_end"));
  EXPECT_EQ(snapshot.stats.unmatched_ends, 0u);
}

TEST(ThreadSlices, ChunksWithoutAGapContinue) {
  WindowChunk second = MakeChunk({End(2, 1300), End(1, 1400)}, 1250,
                                 {{1, EventKind::kBegin, 1100}, {2, EventKind::kBegin, 1200}});
  EXPECT_THAT(Lines(SnapshotOf({MakeChunk({Begin(1, 1100), Begin(2, 1200)}), second})),
              ElementsAre("1100+300 0 m1", "1200+100 1 m2"));
}

TEST(ThreadSlices, GapClosesWhatIsGoneAndOpensWhatCame) {
  WindowChunk second = MakeChunk({End(3, 1600), End(1, 1700)}, 1500,
                                 {{1, EventKind::kBegin, 1100}, {3, EventKind::kBegin, 1450}});
  second.gap_before = true;
  EXPECT_THAT(Lines(SnapshotOf({MakeChunk({Begin(1, 1100), Begin(2, 1200)}), second})),
              ElementsAre("1100+600 0 m1", "1200+300 1 m2 end_lost", "1500+100 1 m3 begin_lost"));
}

TEST(ThreadSlices, RecursionInAGapIsNotTakenForTheSameCall) {
  WindowChunk second = MakeChunk({End(1, 1600)}, 1500, {{1, EventKind::kBegin, 1450}});
  second.gap_before = true;
  EXPECT_THAT(Lines(SnapshotOf({MakeChunk({Begin(1, 1100)}), second})),
              ElementsAre("1100+400 0 m1 end_lost", "1500+100 0 m1 begin_lost"));
}

TEST(ThreadSlices, DifferingOpenCallsAreAGapWithoutItsFlag) {
  WindowChunk second = MakeChunk({}, 1500, {{2, EventKind::kBegin, 1450}});
  EXPECT_THAT(Lines(SnapshotOf({MakeChunk({Begin(1, 1100)}), second})),
              ElementsAre("1100+400 0 m1 end_lost", "1500+500 0 m2 begin_lost open_at_window_end"));
}

TEST(ThreadSlices, GapAcrossTheWindowsBeginKeepsWhatWasOpen) {
  WindowChunk second = MakeChunk({}, 1500);
  second.gap_before = true;
  EXPECT_THAT(Lines(SnapshotOf({MakeChunk({Begin(1, 900)}), second})),
              ElementsAre("900+600 0 m1 began_before_window end_lost"));
}

TEST(ThreadSlices, GapBeforeTheWindowIsReplayed) {
  WindowChunk second = MakeChunk({End(2, 1100)}, 800, {{2, EventKind::kBegin, 700}});
  second.gap_before = true;
  EXPECT_THAT(Lines(SnapshotOf({MakeChunk({Begin(1, 500)}), second})),
              ElementsAre("800+300 0 m2 began_before_window begin_lost"));
}

TEST(ThreadSlices, EndsOfUnlistedOpenCallsDoNotCloseListedOnes) {
  WindowChunk chunk = MakeChunk(
      {End(1, 1100), End(1, 1200), Begin(2, 1210), End(2, 1220), End(5, 1300), End(1, 1400)}, 1050,
      {{1, EventKind::kBegin, 1010}});
  chunk.open_calls_truncated = 3;
  const TestSnapshot snapshot = SnapshotOf({chunk});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1010+390 0 m1", "1210+10 1 m2"));
  EXPECT_EQ(snapshot.stats.unmatched_ends, 0u);
}

TEST(ThreadSlices, EventsOutOfOrderAreMovedUp) {
  EXPECT_THAT(Lines(SnapshotOf(
                  {MakeChunk({Begin(1, 1200), Begin(2, 1100), End(2, 1150), End(1, 1300)}, 1050)})),
              ElementsAre("1200+100 0 m1", "1200+0 1 m2"));
}

TEST(ThreadSlices, RebaseMovesLaterEvents) {
  WindowChunk chunk = MakeChunk({Begin(1, 1100)}, 1000);
  for (const TestEvent& event : {TestEvent{EventKind::kRebase, 0, 1000, {1700, 0}}}) {
    for (uint64_t word : Words(event)) chunk.words.push_back(word);
  }
  chunk.words.push_back(MakeEvent(EventKind::kEnd, 1, 1705));
  EXPECT_THAT(Lines(SnapshotOf({chunk})), ElementsAre("1100+605 0 m1"));
}

TEST(ThreadSlices, UnnamedMethodsAreCalledByIdAndCountedOnce) {
  const TestSnapshot snapshot = Snapshot(
      MakeWindow(1000, 2000,
                 {MakeThread(kTid, {MakeChunk({Begin(77, 1100), End(77, 1110), Begin(77, 1120),
                                               End(77, 1130), Begin(88, 1140), End(88, 1150)})}),
                  MakeThread(12, {MakeChunk({Begin(77, 1100), End(77, 1110)})})}));
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("1100+10 0 method #77", "1120+10 0 method #77", "1140+10 0 method #88"));
  EXPECT_EQ(snapshot.stats.unnamed_methods, 2u);
}

TEST(ThreadSlices, InstantsKeepTheirMomentAndName) {
  const TestSnapshot snapshot = SnapshotOf({MakeChunk({{EventKind::kInstant, 4, 1500}})});
  ASSERT_EQ(snapshot.trace.instants.size(), 1u);
  EXPECT_EQ(snapshot.trace.instants[0].ts, 1500 + kBoottimeOffsetNs);
  EXPECT_EQ(snapshot.trace.instants[0].name, "m4");
  EXPECT_EQ(snapshot.trace.instants[0].tid, kTid);
}

TEST(ThreadSlices, TornChunkIsCountedAndItsHeadKept) {
  WindowChunk chunk = MakeChunk({Begin(1, 1100), End(1, 1200)});
  chunk.words.push_back(MakePayload(3));
  const TestSnapshot snapshot = SnapshotOf({chunk});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+100 0 m1"));
  EXPECT_EQ(snapshot.stats.torn_events, 1u);
}

TEST(ThreadSlices, LaterThreadWithTheSameTidFollowsTheEarlierOne) {
  const TestSnapshot snapshot =
      Snapshot(MakeWindow(1000, 2000,
                          {MakeThread(kTid, {MakeChunk({Begin(1, 1100)})}),
                           MakeThread(kTid, {MakeChunk({Begin(2, 1500)})})}));
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("1100+400 0 m1 open_at_window_end", "1500+500 0 m2 open_at_window_end"));
}

TEST(ThreadSlices, CoarseUnitKeepsOrderAndRoundsDown) {
  RingWindow window = MakeWindow(
      1000, 2000,
      {MakeThread(kTid,
                  {MakeChunk({Begin(1, 1100), Begin(2, 1101), End(2, 1400), End(1, 1401)})})});
  const MethodNames names = TestNames();
  SnapshotInput input = MakeInput(window, names);
  input.time_unit_ns = 128;
  const TestSnapshot snapshot = Snapshot(input);
  ASSERT_EQ(snapshot.trace.slices.size(), 2u);
  for (const ReadSlice& slice : snapshot.trace.slices) {
    EXPECT_EQ(slice.ts, (1100 + kBoottimeOffsetNs) / 128 * 128);
    EXPECT_EQ(slice.ts + slice.dur, (1400 + kBoottimeOffsetNs) / 128 * 128);
  }
  EXPECT_EQ(snapshot.trace.slices[1].depth, 1u);
}

}  // namespace
}  // namespace jankbox::testing

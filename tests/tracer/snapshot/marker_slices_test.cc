// Markers in the trace: nested among the calls, on tracks of their own, repaired if ends miss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kTid = 11;

TestEvent Marker(const std::string& text, uint64_t ticks) {
  TestEvent event = DispatchBegin(text, ticks);
  event.kind = EventKind::kMarker;
  return event;
}

TestEvent Carried(const std::string& text, uint64_t ticks, uint64_t chunk_ticks) {
  TestEvent event = Marker(text, chunk_ticks);
  event.id |= kCarriedMarker;
  event.payload.insert(event.payload.begin(), {ticks, 0});
  return event;
}

WindowThread ThreadOf(std::vector<WindowChunk> calls, std::vector<WindowChunk> markers,
                      int32_t tid = kTid) {
  WindowThread thread = MakeThread(tid, std::move(calls));
  thread.markers = std::move(markers);
  return thread;
}

TestSnapshot SnapshotOf(std::vector<WindowChunk> calls, std::vector<WindowChunk> markers) {
  return Snapshot(MakeWindow(1000, 2000, {ThreadOf(std::move(calls), std::move(markers))}));
}

std::vector<std::string> Lines(const TestSnapshot& snapshot) {
  return Describe(snapshot.trace.slices, kTid);
}

TEST(MarkerSlices, NestAmongTheCallsOnTheThreadsTrack) {
  const TestSnapshot snapshot = SnapshotOf(
      {MakeChunk({DispatchBegin("msg", 1100), Begin(1, 1120), End(1, 1180), DispatchEnd(1300)})},
      {MakeChunk({Marker("B|1|draw", 1110), Marker("B|1|inner", 1130), Marker("E|1", 1140),
                  Marker("E|1", 1200), Marker("I|1|tap", 1250)})});
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("1100+200 0 msg", "1110+90 1 draw", "1120+60 2 m1", "1130+10 3 inner"));
  EXPECT_EQ(snapshot.trace.slices[1].category, "atrace");
  ASSERT_EQ(snapshot.trace.instants.size(), 1u);
  EXPECT_EQ(snapshot.trace.instants[0].name, "tap");
  EXPECT_EQ(snapshot.trace.instants[0].tid, kTid);
  EXPECT_EQ(snapshot.stats.repaired_slices, 0u);
}

TEST(MarkerSlices, EmptyNameIsAQuestionMarkAndACutCharacterIsReplaced) {
  const TestSnapshot snapshot =
      SnapshotOf({}, {MakeChunk({Marker("B|1|", 1100), Marker("B|1|\xe7\x94", 1110),
                                 Marker("E|1", 1150), Marker("E|1", 1200)})});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+100 0 ?", "1110+40 1 \xef\xbf\xbd\xef\xbf\xbd"));
}

TEST(MarkerSlices, ThreadOfOnlyMarkersIsDrawn) {
  const TestSnapshot snapshot =
      SnapshotOf({}, {MakeChunk({Marker("B|1|only", 1100), Marker("E|1", 1200)})});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+100 0 only"));
  EXPECT_EQ(snapshot.trace.threads.at(kTid), "thread-11");
}

TEST(MarkerSlices, LeftOpenByAnExceptionEndsWithItsMethodAndIsCounted) {
  const TestSnapshot snapshot = SnapshotOf(
      {MakeChunk({Begin(1, 1120), End(1, 1180)})},
      {MakeChunk({Marker("B|1|outer", 1110), Marker("B|1|thrown", 1130), Marker("E|1", 1200)})});
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("1110+90 0 outer", "1120+60 1 m1", "1130+50 2 thrown end_missing"));
  EXPECT_EQ(snapshot.stats.repaired_slices, 1u);
  EXPECT_EQ(snapshot.stats.unmatched_ends, 0u);
}

TEST(MarkerSlices, NeverEndedAndNeverBegunAreDistinguished) {
  const TestSnapshot snapshot =
      SnapshotOf({}, {MakeChunk({Marker("E|1", 1050), Marker("B|1|open", 1100)})});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+900 0 open open_at_window_end"));
  EXPECT_EQ(snapshot.stats.unmatched_ends, 1u);
  EXPECT_EQ(snapshot.stats.open_slices, 1u);
}

TEST(MarkerSlices, CarriedOnesAreReturnedOnceAndKeepTheirStart) {
  const TestSnapshot snapshot =
      SnapshotOf({MakeChunk({Begin(1, 950), End(1, 1700)})},
                 {MakeChunk({Carried("B|1|outer", 900, 960), Marker("B|1|in", 1100)}, 960),
                  MakeChunk({Carried("B|1|outer", 900, 1400), Carried("B|1|in", 1100, 1400),
                             Marker("E|1", 1500), Marker("E|1", 1800)},
                            1400)});
  EXPECT_THAT(Lines(snapshot), ElementsAre("900+900 0 outer began_before_window",
                                           "950+750 1 m1 began_before_window", "1100+400 2 in"));
  EXPECT_EQ(snapshot.stats.unmatched_ends, 0u);
}

TEST(MarkerSlices, GapClosesWhatIsGoneAndOpensWhatCame) {
  WindowChunk second = MakeChunk({Carried("B|1|outer", 1010, 1500), Carried("B|1|new", 1450, 1500),
                                  Marker("E|1", 1600), Marker("E|1", 1700)},
                                 1500);
  second.gap_before = true;
  const TestSnapshot snapshot =
      SnapshotOf({}, {MakeChunk({Marker("B|1|outer", 1010), Marker("B|1|gone", 1020)}), second});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1010+690 0 outer", "1020+480 1 gone end_lost",
                                           "1500+100 1 new begin_lost"));
}

TEST(MarkerSlices, DamagedCallAtTheEndOfTimeDoesNotHoldThemUp) {
  const TestSnapshot snapshot =
      SnapshotOf({MakeChunk({Begin(1, UINT64_MAX)}, UINT64_MAX)},
                 {MakeChunk({Marker("B|1|only", 1100), Marker("E|1", 1200)})});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+100 0 only"));
}

TEST(MarkerSlices, MarkersDoNotDisturbTheChunksOfCalls) {
  WindowChunk second = MakeChunk(
      {End(1, 1400)}, 1250, {{0, EventKind::kDispatchBegin, 1100}, {1, EventKind::kBegin, 1120}});
  const TestSnapshot snapshot = SnapshotOf(
      {MakeChunk({DispatchBegin("msg", 1100), Begin(1, 1120)}), second},
      {MakeChunk({Marker("B|1|between", 1110), Marker("B|1|in", 1130), Marker("E|1", 1300)})});
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+900 0 msg open_at_window_end",
                                           "1110+890 1 between open_at_window_end", "1120+280 2 m1",
                                           "1130+170 3 in"));
  EXPECT_EQ(snapshot.stats.repaired_slices, 0u);
}

TEST(MarkerSlices, AsyncOnesCountersAndNamedTracksLieBelowTheProcess) {
  const TestSnapshot snapshot = Snapshot(MakeWindow(
      1000, 2000,
      {ThreadOf({}, {MakeChunk({Marker("S|1|load|7", 1100), Marker("S|1|load|8", 1150),
                                Marker("C|1|heap|-5", 1160), Marker("G|1|net|GET /|3", 1170),
                                Marker("N|1|input|tap", 1180), Marker("nonsense", 1190)})}),
       ThreadOf({},
                {MakeChunk({Marker("F|1|load|7", 1300), Marker("H|1|net|3", 1310),
                            Marker("F|1|load|9", 1320)})},
                12)}));
  std::vector<std::string> lines;
  for (const ReadSlice& slice : snapshot.trace.slices) {
    EXPECT_EQ(slice.tid, 0);
    lines.push_back(slice.track + ": " + Describe(slice));
  }
  EXPECT_THAT(lines, ::testing::UnorderedElementsAre("load: 1100+200 0 load",
                                                     "load: 1150+850 0 load open_at_window_end",
                                                     "net: 1170+140 0 GET /"));
  ASSERT_EQ(snapshot.trace.counters.size(), 1u);
  EXPECT_EQ(snapshot.trace.counters[0].name, "heap");
  EXPECT_EQ(snapshot.trace.counters[0].value, -5);
  ASSERT_EQ(snapshot.trace.instants.size(), 1u);
  EXPECT_EQ(snapshot.trace.instants[0].name, "tap");
  EXPECT_EQ(snapshot.stats.unmatched_ends, 1u);
  EXPECT_EQ(snapshot.stats.unknown_markers, 1u);
  EXPECT_EQ(snapshot.stats.open_slices, 1u);
}

TEST(MarkerSlices, AsyncOnesThatBeganBeforeTheWindowAreDrawnFromThere) {
  const TestSnapshot snapshot =
      SnapshotOf({}, {MakeChunk({Marker("S|1|load|7", 500), Marker("I|1|early", 600),
                                 Marker("F|1|load|7", 1300)})});
  ASSERT_EQ(snapshot.trace.slices.size(), 1u);
  EXPECT_EQ(Describe(snapshot.trace.slices[0]), "500+800 0 load began_before_window");
  EXPECT_THAT(snapshot.trace.instants, IsEmpty());
}

}  // namespace
}  // namespace jankbox::testing

// Async slices and counters, merged over the threads of the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;

constexpr auto kAsyncBegin = EventKind::kAsyncBegin;
constexpr auto kAsyncEnd = EventKind::kAsyncEnd;
constexpr auto kCounter = EventKind::kCounter;

std::vector<std::string> Lines(const TestSnapshot& snapshot) {
  return Describe(snapshot.trace.slices, 0);
}

TEST(ProcessEvents, AsyncSliceMayEndOnAnotherThread) {
  const TestSnapshot snapshot =
      Snapshot(MakeWindow(1000, 2000,
                          {MakeThread(11, {MakeChunk({Value(kAsyncEnd, 1, 7, 1300)})}),
                           MakeThread(12, {MakeChunk({Value(kAsyncBegin, 1, 7, 1100)})})}));
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+200 0 m1"));
  EXPECT_EQ(snapshot.trace.slices[0].track, "m1");
  EXPECT_EQ(snapshot.trace.slices[0].category, "async");
  EXPECT_EQ(snapshot.stats.slices, 1u);
}

TEST(ProcessEvents, EachNameAndCookieHasATrack) {
  constexpr uint64_t kWideCookie = 0xfedcba9876543210;
  const TestSnapshot snapshot = Snapshot(MakeWindow(
      1000, 2000,
      {MakeThread(
          11,
          {MakeChunk({Value(kAsyncBegin, 1, 7, 1100), Value(kAsyncBegin, 1, 8, 1110),
                      Value(kAsyncBegin, 2, 7, 1120), Value(kAsyncBegin, 1, kWideCookie, 1130),
                      Value(kAsyncEnd, 1, 7, 1200), Value(kAsyncEnd, 1, 8, 1210),
                      Value(kAsyncEnd, 2, 7, 1220), Value(kAsyncEnd, 1, kWideCookie, 1230)})})}));
  EXPECT_THAT(Lines(snapshot),
              ElementsAre("1100+100 0 m1", "1110+100 0 m1", "1120+100 0 m2", "1130+100 0 m1"));
  std::set<uint64_t> tracks;
  for (const ReadSlice& slice : snapshot.trace.slices) tracks.insert(slice.track_uuid);
  EXPECT_EQ(tracks.size(), 4u);
}

TEST(ProcessEvents, EndWithoutBeginIsCounted) {
  const TestSnapshot snapshot = Snapshot(MakeWindow(
      1000, 2000,
      {MakeThread(11, {MakeChunk({Value(kAsyncBegin, 1, 7, 1100), Value(kAsyncEnd, 1, 8, 1200),
                                  Value(kAsyncEnd, 1, 7, 1300), Value(kAsyncEnd, 1, 7, 1400)})})}));
  EXPECT_THAT(Lines(snapshot), ElementsAre("1100+200 0 m1"));
  EXPECT_EQ(snapshot.stats.unmatched_ends, 2u);
}

TEST(ProcessEvents, SlicesOpenAtTheEdgesSaySo) {
  const TestSnapshot snapshot = Snapshot(MakeWindow(
      1000, 2000,
      {MakeThread(11, {MakeChunk({Value(kAsyncBegin, 1, 1, 100), Value(kAsyncBegin, 2, 1, 200),
                                  Value(kAsyncEnd, 2, 1, 300), Value(kAsyncEnd, 5, 1, 310),
                                  Value(kCounter, 3, 4, 400), Value(kAsyncBegin, 4, 1, 1500),
                                  Value(kAsyncEnd, 4, 1, 2100)})})}));
  EXPECT_THAT(Lines(snapshot), ElementsAre("100+1900 0 m1 began_before_window open_at_window_end",
                                           "1500+500 0 m4 open_at_window_end"));
  EXPECT_EQ(snapshot.stats.open_slices, 2u);
  EXPECT_EQ(snapshot.stats.unmatched_ends, 0u);
  EXPECT_TRUE(snapshot.trace.counters.empty());
}

TEST(ProcessEvents, SlicesOpenBeforeTheWindowKeepTheirOrder) {
  const TestSnapshot snapshot = Snapshot(MakeWindow(
      1000, 2000,
      {MakeThread(11, {MakeChunk({Value(kAsyncBegin, 2, 1, 100), Value(kAsyncBegin, 1, 1, 200)})}),
       MakeThread(12, {MakeChunk({Value(kAsyncBegin, 1, 0, 150)})})}));
  EXPECT_THAT(Lines(snapshot), ElementsAre("100+1900 0 m2 began_before_window open_at_window_end",
                                           "150+1850 0 m1 began_before_window open_at_window_end",
                                           "200+1800 0 m1 began_before_window open_at_window_end"));
}

TEST(ProcessEvents, CountersOfAllThreadsComeInOrderOfTime) {
  const TestSnapshot snapshot = Snapshot(
      MakeWindow(1000, 2000,
                 {MakeThread(11, {MakeChunk({Value(kCounter, 3, 5, 1100),
                                             Value(kCounter, 3, static_cast<uint64_t>(-9), 1300)}),
                                  MakeChunk({Value(kCounter, 99, 1, 1400)})}),
                  MakeThread(12, {MakeChunk({Value(kCounter, 3, INT64_MAX, 1200)})})}));
  std::vector<std::string> lines;
  for (const ReadCounter& counter : snapshot.trace.counters) {
    lines.push_back(std::to_string(counter.ts - kBoottimeOffsetNs) + " " + counter.name + "=" +
                    std::to_string(counter.value));
  }
  EXPECT_THAT(lines, ElementsAre("1100 m3=5", "1200 m3=9223372036854775807", "1300 m3=-9",
                                 "1400 method #99=1"));
  EXPECT_EQ(snapshot.stats.unnamed_methods, 1u);
}

}  // namespace
}  // namespace jankbox::testing

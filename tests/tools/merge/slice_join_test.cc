#include "tools/merge/slice_join.h"

#include <gmock/gmock.h>

namespace jankbox::tools {
namespace {

using traceproto::TrackEvent;
constexpr int32_t kTid = 7;

// The app's slices and the capture's markers on one thread; both clocks are the same.
class SliceJoinTest : public ::testing::Test {
 protected:
  void SetUp() override {
    app_.pid = kTid;
    app_.threads[kTid] = "app";
    app_.tracks = {{.uuid = 1, .name = "", .tid = kTid}};
    fit_.bound_ns = 100;
  }
  void App(uint64_t ns, const std::string& name) {
    app_.names.push_back(name);
    app_.events.push_back(
        {ns, 0, 0, static_cast<uint32_t>(app_.names.size() - 1),
         name.empty() ? TrackEvent::TYPE_SLICE_END : TrackEvent::TYPE_SLICE_BEGIN});
  }
  void Kernel(uint64_t ns, char kind, const std::string& name = "") {
    facts_.names.push_back(name);
    facts_.marks.push_back({.stamp = ns,
                            .ordinal = facts_.marks.size(),
                            .value = 0,
                            .name = static_cast<uint32_t>(facts_.names.size() - 1),
                            .cpu = 0,
                            .pid = kTid,
                            .tid = kTid,
                            .kind = kind});
  }
  SliceJoin Join() const { return JoinSlices(app_, facts_, fit_); }
  static std::vector<std::pair<uint64_t, std::string>> Added(const SliceJoin& join) {
    std::vector<std::pair<uint64_t, std::string>> added;
    for (const JoinedMark& mark : join.added) added.push_back({mark.boottime_ns, mark.text});
    return added;
  }

  AppTrace app_;
  CaptureFacts facts_;
  ClockFit fit_;
};

TEST_F(SliceJoinTest, WhatNestsStaysAsItIs) {
  App(1'000'000, "outer");
  App(9'000'000, "");
  Kernel(2'000'000, 'B', "k");
  Kernel(3'000'000, 'E');
  const SliceJoin join = Join();
  EXPECT_TRUE(join.dropped.empty());
  EXPECT_TRUE(join.added.empty());
}

TEST_F(SliceJoinTest, CopiesAreDroppedWithTheirEnds) {
  App(1'000'000, "same");
  App(9'000'000, "");
  Kernel(1'002'000, 'B', "same");
  Kernel(2'000'000, 'B', "other");
  Kernel(3'000'000, 'E');
  Kernel(8'999'000, 'E');
  const SliceJoin join = Join();
  EXPECT_THAT(join.dropped, ::testing::UnorderedElementsAre(0u, 3u));
  EXPECT_EQ(join.duplicates, 2u);
}

TEST_F(SliceJoinTest, TheSameTextAtAnotherTimeIsNoCopy) {
  App(1'000'000, "same");
  App(2'000'000, "");
  Kernel(500'000'000, 'B', "same");
  Kernel(600'000'000, 'E');
  EXPECT_EQ(Join().duplicates, 0u);
}

TEST_F(SliceJoinTest, ACopyWhoseWriteWasPreemptedIsStillOne) {
  App(1'000'000, "same");
  App(20'000'000, "");
  Kernel(9'000'000, 'B', "same");
  Kernel(21'000'000, 'E');
  EXPECT_EQ(Join().duplicates, 2u);
}

TEST_F(SliceJoinTest, AnEndWithoutABeginWouldCloseTheAppsSlice) {
  App(1'000'000, "outer");
  App(9'000'000, "");
  Kernel(2'000'000, 'E');
  const SliceJoin join = Join();
  EXPECT_THAT(join.dropped, ::testing::UnorderedElementsAre(0u));
  EXPECT_EQ(join.unmatched_ends, 1u);
}

TEST_F(SliceJoinTest, ClockErrorIsFixedByTheSmallestMove) {
  App(1'000'000, "around");
  App(2'000'000, "within");
  App(3'000'000, "");
  App(9'000'000, "");
  Kernel(999'950, 'B', "k");  // is inside "around", 50 ns early
  Kernel(2'999'940, 'E');     // is after "within", 60 ns early
  const SliceJoin join = Join();
  EXPECT_THAT(Added(join),
              ::testing::ElementsAre(std::make_pair(1'000'001u, std::string("B|7|k\n")),
                                     std::make_pair(3'000'001u, std::string("E|7\n"))));
  EXPECT_EQ(join.moved_slices, 1u);
  EXPECT_EQ(join.longest_move_ns, 61u);
}

TEST_F(SliceJoinTest, SlicesThatCrossAreMadeShorter) {
  App(1'000'000, "a");
  App(5'000'000, "");
  Kernel(4'000'000, 'B', "k");
  Kernel(20'000'000, 'E');
  const SliceJoin join = Join();
  EXPECT_THAT(Added(join),
              ::testing::ElementsAre(std::make_pair(5'000'001u, std::string("B|7|k\n"))));
}

TEST_F(SliceJoinTest, ASliceThatTheCaptureNeverEndsEndsWithTheOneAroundIt) {
  App(1'000'000, "a");
  App(5'000'000, "");
  Kernel(2'000'000, 'B', "k");
  EXPECT_THAT(Added(Join()),
              ::testing::ElementsAre(std::make_pair(4'999'999u, std::string("E|7\n"))));
}

}  // namespace
}  // namespace jankbox::tools

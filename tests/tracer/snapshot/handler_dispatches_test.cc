// Dispatches that are one slice with the handler in them.
#include "tracer/snapshot/handler_dispatches.h"

#include <gmock/gmock.h>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int32_t kTid = 11;

// "1100 Handler": when the loop's dispatch began, and the name of the one in it.
std::vector<std::string> Found(std::vector<WindowChunk> chunks, uint64_t slack_ticks = 0,
                               uint64_t end_ticks = 100'000) {
  const WindowThread thread = MakeThread(kTid, std::move(chunks));
  std::vector<std::string> lines;
  for (const HandlerDispatch& found : FindHandlerDispatches(thread, end_ticks, slack_ticks)) {
    lines.push_back(std::to_string(found.loop_ticks) + " " + DispatchName(found.handler));
  }
  return lines;
}

// A dispatch of the loop from 1000 to 2000 with a handler in it.
std::vector<TestEvent> Loop(uint64_t handler_begin, uint64_t handler_end) {
  return {DispatchBegin("", 1000), DispatchBegin("Handler", handler_begin),
          DispatchEnd(handler_end), DispatchEnd(2000)};
}

TEST(HandlerDispatches, HandlerThatIsAsLongIsFound) {
  EXPECT_THAT(Found({MakeChunk(Loop(1001, 1999))}), ElementsAre("1000 Handler"));
  EXPECT_THAT(Found({MakeChunk(Loop(1005, 1995))}), ElementsAre("1000 Handler"));
}

TEST(HandlerDispatches, LoopThatIsLongerIsADispatchOfItsOwn) {
  EXPECT_THAT(Found({MakeChunk(Loop(1011, 2000))}), IsEmpty());
  EXPECT_THAT(Found({MakeChunk(Loop(1000, 1980))}), IsEmpty());
  EXPECT_THAT(Found({MakeChunk(Loop(1011, 1980))}, /*slack_ticks=*/31),
              ElementsAre("1000 Handler"));
}

TEST(HandlerDispatches, LoopThatCallsMoreStaysAround) {
  EXPECT_THAT(
      Found({MakeChunk({DispatchBegin("", 1000), DispatchBegin("a", 1000), DispatchEnd(1990),
                        DispatchBegin("b", 1991), DispatchEnd(1999), DispatchEnd(2000)})},
            100),
      IsEmpty());
  EXPECT_THAT(Found({MakeChunk({DispatchBegin("", 1000), Begin(1, 1001), End(1, 1002),
                                DispatchBegin("a", 1003), DispatchEnd(1999), DispatchEnd(2000)})},
                    100),
              IsEmpty());
  EXPECT_THAT(
      Found({MakeChunk({DispatchBegin("", 1000), DispatchBegin("a", 1001), DispatchEnd(1997),
                        Begin(1, 1998), End(1, 1999), DispatchEnd(2000)})},
            100),
      IsEmpty());
}

TEST(HandlerDispatches, CallsAndDispatchesOfTheHandlerAreItsOwn) {
  EXPECT_THAT(Found({MakeChunk({DispatchBegin("", 1000), DispatchBegin("a", 1001), Begin(1, 1100),
                                DispatchBegin("inner", 1200), DispatchEnd(1300), End(1, 1400),
                                DispatchEnd(1999), DispatchEnd(2000)})}),
              ElementsAre("1000 a"));
}

TEST(HandlerDispatches, DispatchWithANameHasNoHandler) {
  EXPECT_THAT(Found({MakeChunk({DispatchBegin("loop", 1000), DispatchBegin("a", 1000),
                                DispatchEnd(2000), DispatchEnd(2000)})}),
              IsEmpty());
}

TEST(HandlerDispatches, WhatIsOpenLastsToTheEnd) {
  EXPECT_THAT(Found({MakeChunk({DispatchBegin("", 1000), DispatchBegin("a", 1001)})}),
              ElementsAre("1000 a"));
  EXPECT_THAT(Found({MakeChunk(Loop(1001, 1999))}, 0, /*end_ticks=*/1500),
              ElementsAre("1000 Handler"));
  EXPECT_THAT(Found({MakeChunk({DispatchBegin("", 1000), DispatchBegin("a", 1500)})}, 0, 1600),
              IsEmpty());
}

TEST(HandlerDispatches, ChunksContinueUnlessOneIsMissing) {
  const WindowChunk first = MakeChunk({DispatchBegin("", 1000), DispatchBegin("a", 1001)});
  WindowChunk second = MakeChunk({DispatchEnd(1999), DispatchEnd(2000)});
  EXPECT_THAT(Found({first, second}), ElementsAre("1000 a"));
  second.gap_before = true;
  EXPECT_THAT(Found({first, second}), IsEmpty());
}

TEST(HandlerDispatches, AreOneSliceOfTheTrace) {
  const TestSnapshot snapshot = Snapshot(MakeWindow(
      1000, 2000,
      {MakeThread(kTid, {MakeChunk({DispatchBegin("", 1100), DispatchBegin("Handler", 1101),
                                    Begin(1, 1110), DispatchBegin("inner", 1120), DispatchEnd(1130),
                                    End(1, 1140), DispatchEnd(1190), DispatchEnd(1191),
                                    DispatchBegin("", 1300), DispatchEnd(1310),
                                    DispatchBegin("", 1900), DispatchBegin("Late", 1900)})})}));
  EXPECT_THAT(Describe(snapshot.trace.slices, kTid),
              ElementsAre("1100+91 0 Handler", "1110+30 1 m1", "1120+10 2 inner",
                          "1300+10 0 dispatch", "1900+100 0 Late open_at_window_end"));
  EXPECT_EQ(snapshot.stats.slices, 5u);
  EXPECT_EQ(snapshot.stats.open_slices, 1u);
}

}  // namespace
}  // namespace jankbox::testing

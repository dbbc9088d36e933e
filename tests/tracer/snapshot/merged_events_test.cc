#include "tracer/snapshot/merged_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tracer/snapshot/test_window.h"

namespace jankbox::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "ticks id" of all merged events up to 2,000.
std::vector<std::string> Merged(const std::vector<WindowThread>& threads) {
  std::vector<const WindowThread*> pointers;
  for (const WindowThread& thread : threads) pointers.push_back(&thread);
  MergedEvents events(pointers, 2000);
  std::vector<std::string> lines;
  EventRecord event;
  while (events.Next(&event)) {
    lines.push_back(std::to_string(event.ticks) + " " + std::to_string(event.id));
  }
  return lines;
}

TestEvent Counter(uint32_t id, uint64_t ticks) { return Value(EventKind::kCounter, id, 0, ticks); }

TEST(MergedEvents, ThreadsComeInOrderOfTimeAcrossChunks) {
  EXPECT_THAT(Merged({MakeThread(1, {MakeChunk({Counter(1, 1100), Begin(9, 1150)}),
                                     MakeChunk({Counter(1, 1400), Counter(1, 2001)})}),
                      MakeThread(2, {}), MakeThread(3, {MakeChunk({End(9, 1000)})}),
                      MakeThread(4, {MakeChunk({Counter(4, 1100), Counter(4, 1300),
                                                Value(EventKind::kAsyncEnd, 4, 1, 1500)})})}),
              ElementsAre("1100 1", "1100 4", "1300 4", "1400 1", "1500 4"));
}

TEST(MergedEvents, EventsOutOfOrderAreMovedUp) {
  EXPECT_THAT(Merged({MakeThread(1, {MakeChunk({Counter(1, 1400), Counter(1, 1200)}, 1100)}),
                      MakeThread(2, {MakeChunk({Counter(2, 1300), Counter(2, 1500)})})}),
              ElementsAre("1300 2", "1400 1", "1400 1", "1500 2"));
}

TEST(MergedEvents, NoThreadsGiveNoEvents) { EXPECT_THAT(Merged({}), IsEmpty()); }

}  // namespace
}  // namespace jankbox::testing

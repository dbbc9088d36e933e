#include "diagnosis/seal/wait_for_graph.h"

#include <gmock/gmock.h>

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WaitForGraph, ChainsAreNoDeadlocks) {
  const std::vector<WaitingThread> threads = {{1, 2, "a"}, {2, 3, "b"},  {3, 0, "c"},
                                              {4, 3, "d"}, {5, 99, "e"}, {6, 6, "f"}};
  EXPECT_THAT(FindDeadlocks(threads), IsEmpty());
  EXPECT_THAT(OwnersOf(threads, 1), ElementsAre(1, 2));
  EXPECT_THAT(OwnersOf(threads, 3), IsEmpty());
  EXPECT_THAT(OwnersOf(threads, 5), IsEmpty());
  EXPECT_THAT(FindDeadlocks({}), IsEmpty());
}

TEST(WaitForGraph, TwoThatWaitForEachOtherAreNamed) {
  const std::vector<WaitingThread> threads = {{9, 0, "x"}, {12, 13, "main"}, {13, 12, "worker"}};
  const auto circles = FindDeadlocks(threads);
  ASSERT_THAT(circles, ElementsAre(ElementsAre(1, 2)));
  EXPECT_EQ(
      DeadlockSentence(threads, circles[0]),
      "deadlock: thread main (12) holds a lock that thread worker (13) waits for, and vice versa");
  EXPECT_THAT(OwnersOf(threads, 12), ElementsAre(2));
}

TEST(WaitForGraph, ThoseWhoWaitForADeadlockAreNotInIt) {
  const std::vector<WaitingThread> threads = {{1, 3, "waits"}, {2, 3, "b"}, {3, 4, "c"},
                                              {4, 2, "d"},     {7, 8, "e"}, {8, 7, "f"}};
  const auto circles = FindDeadlocks(threads);
  ASSERT_THAT(circles, ElementsAre(ElementsAre(1, 2, 3), ElementsAre(4, 5)));
  EXPECT_EQ(
      DeadlockSentence(threads, circles[0]),
      "deadlock: thread b (2) waits for a lock of thread c (3), thread c (3) waits for a lock of "
      "thread d (4), thread d (4) waits for a lock of thread b (2)");
  EXPECT_THAT(OwnersOf(threads, 1), ElementsAre(2, 3, 1));
}

}  // namespace
}  // namespace jankbox

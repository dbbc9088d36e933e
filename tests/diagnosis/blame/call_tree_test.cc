#include "diagnosis/blame/call_tree.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

using Path = std::vector<uint64_t>;

TEST(CallTree, BlamesTheHeaviestPathDownToThirtyPercent) {
  CallTree tree;
  tree.AddPath({1, 2, 3}, 50);
  tree.AddPath({1, 2, 4}, 25);
  tree.AddPath({1, 5}, 25);
  EXPECT_EQ(tree.BlamedPath(), (Path{1, 2, 3}));
  CallTree spread;
  for (uint64_t leaf = 10; leaf < 20; ++leaf) spread.AddPath({1, 2, leaf}, 10);
  EXPECT_EQ(spread.BlamedPath(), (Path{1, 2}));
}

TEST(CallTree, TimeBelongsToTheCallsThatWereOpen) {
  CallTree tree;
  tree.Enter(1, 0);
  tree.Enter(2, 100);
  tree.Leave(2, 800);
  tree.Enter(3, 800);
  tree.Leave(1, 1000);  // leaves 3 as well, whose end was lost
  tree.Leave(7, 1100);  // never entered
  EXPECT_EQ(tree.total_weight(), 1000u);
  EXPECT_EQ(tree.BlamedPath(), (Path{1, 2}));
}

TEST(CallTree, CallThatNeverEndsIsBlamed) {
  CallTree tree;
  tree.Enter(1, 0);
  tree.Enter(2, 10);
  tree.LeaveAll(1500);
  EXPECT_EQ(tree.BlamedPath(), (Path{1, 2}));
}

TEST(CallTree, RecursionAndTimeThatGoesBackAreHarmless) {
  CallTree tree;
  for (uint64_t i = 0; i < 1000; ++i) tree.Enter(1, i);
  tree.Enter(2, 500);
  tree.LeaveAll(400);
  EXPECT_LE(tree.total_weight(), 1000u);
}

TEST(CallTree, EmptyTreeBlamesNoFunction) { EXPECT_TRUE(CallTree().BlamedPath().empty()); }

}  // namespace
}  // namespace jankbox

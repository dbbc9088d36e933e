#include "diagnosis/blame/method_list.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr uint64_t kMs = 1'000'000;

std::vector<CallItem> Flat(size_t count, uint64_t first_ms, uint64_t step_ms) {
  std::vector<CallItem> items;
  for (size_t i = 0; i < count; ++i) items.push_back({i, 0, 1, (first_ms + i * step_ms) * kMs});
  return items;
}

TEST(MethodList, ShortListsStayWhole) {
  EXPECT_EQ(TrimMethods(Flat(30, 0, 0)).items.size(), 30u);
  EXPECT_EQ(TrimMethods(Flat(30, 0, 0)).left_out, 0u);
}

TEST(MethodList, StepsOfFiveMillisecondsUntilThirtyAreLeft) {
  // 0, 1, … 99 ms: under 70 ms must go for 30 to be left, in steps of 5 ms.
  const MethodList list = TrimMethods(Flat(100, 0, 1));
  ASSERT_EQ(list.items.size(), 30u);
  EXPECT_EQ(list.left_out, 70u);
  EXPECT_EQ(list.items.front().weight, 70 * kMs);
  // 41 items: one step of 5 ms is enough, and no more is taken.
  EXPECT_EQ(TrimMethods(Flat(31, 4, 1)).items.size(), 30u);
  EXPECT_EQ(TrimMethods(Flat(31, 4, 1)).items.front().weight, 5 * kMs);
}

TEST(MethodList, BeyondTheLastStepTheHeaviestStayInTheirOrder) {
  const MethodList list = TrimMethods(Flat(100, 300, 1));  // all of them above 60 x 5 ms
  ASSERT_EQ(list.items.size(), 30u);
  EXPECT_EQ(list.items.front().weight, 370 * kMs);
  EXPECT_EQ(list.items.back().weight, 399 * kMs);
}

TEST(MethodList, CallersStayWithWhatTheyCalled) {
  CallTree tree;
  tree.Enter(1, 0);
  for (uint64_t i = 0; i < 50; ++i) {
    tree.Enter(100 + i, i * 10 * kMs);
    tree.Enter(200 + i, i * 10 * kMs);
    tree.Leave(200 + i, (i + 1) * 10 * kMs);
    tree.Leave(100 + i, (i + 1) * 10 * kMs);
  }
  tree.Leave(1, 600 * kMs);
  const MethodList list = TrimMethods(tree.Items());
  EXPECT_LE(list.items.size(), 30u);
  ASSERT_FALSE(list.items.empty());
  EXPECT_EQ(list.items.front().key, 1u);
  uint32_t depth = 0;
  for (const CallItem& item : list.items) {
    EXPECT_LE(item.depth, depth + 1);
    depth = item.depth;
  }
}

}  // namespace
}  // namespace jankbox

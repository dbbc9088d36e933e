#include "base/compact_sort.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>

namespace jankbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Item {
  uint32_t key;
  uint32_t place;
};

TEST(CompactSort, SortsAsStdDoesAndKeepsTheOrderOfEquals) {
  std::mt19937 random(7);
  for (size_t count = 0; count < 300; ++count) {
    std::vector<Item> items;
    for (uint32_t i = 0; i < count; ++i) items.push_back({static_cast<uint32_t>(random() % 20), i});
    std::vector<Item> expected = items;
    const auto less = [](const Item& a, const Item& b) { return a.key < b.key; };
    std::stable_sort(expected.begin(), expected.end(), less);
    CompactSort(&items, less);
    ASSERT_EQ(items.size(), count);
    for (size_t i = 0; i < count; ++i) {
      ASSERT_EQ(items[i].key, expected[i].key) << count;
      ASSERT_EQ(items[i].place, expected[i].place) << count;
    }
  }
}

TEST(CompactSort, MovesWhatCannotBeCopied) {
  std::vector<std::unique_ptr<std::string>> items;
  for (const char* text : {"c", "a", "b"}) items.push_back(std::make_unique<std::string>(text));
  CompactSort(&items, [](const auto& a, const auto& b) { return *a < *b; });
  EXPECT_EQ(*items[0] + *items[1] + *items[2], "abc");
}

TEST(CompactSort, NaturalOrderUnlessRequested) {
  std::vector<std::string> texts = {"b", "", "a"};
  CompactSort(&texts);
  EXPECT_THAT(texts, ElementsAre("", "a", "b"));
  std::vector<int> none;
  CompactSort(&none);
  EXPECT_THAT(none, IsEmpty());
}

TEST(CompactSort, OrderThatContradictsItselfLosesNothing) {
  std::vector<int> items(1000);
  for (int i = 0; i < 1000; ++i) items[static_cast<size_t>(i)] = i;
  CompactSort(&items, [](int, int) { return true; });
  std::sort(items.begin(), items.end());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(items[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace jankbox

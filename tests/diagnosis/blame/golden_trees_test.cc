// Begins and ends as they come out of a ring, the tree that they must become, and its blamed path.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>

#include "diagnosis/blame/method_list.h"

namespace jankbox {
namespace {

// "A+0 B+100 B-800 A-1000 .1500": begins, ends, and the end of the window, at times in ms. Methods
// are letters.
CallTree TreeOf(const std::string& events) {
  CallTree tree;
  std::istringstream words(events);
  for (std::string word; words >> word;) {
    constexpr uint64_t kNsPerMs = 1'000'000;
    if (word[0] == '.') {
      tree.LeaveAll(std::stoull(word.substr(1)) * kNsPerMs);
      continue;
    }
    const uint64_t time = std::stoull(word.substr(2)) * kNsPerMs;
    const auto key = static_cast<uint64_t>(word[0]);
    word[1] == '+' ? tree.Enter(key, time) : tree.Leave(key, time);
  }
  return tree;
}

// "A 1000 | .B x2 700 | .C! 200": depth by dots, calls, ms, "!" if one never ended.
std::string Listing(const std::vector<CallItem>& items) {
  std::string text;
  for (const CallItem& item : items) {
    if (!text.empty()) text += " | ";
    text += std::string(item.depth, '.') + static_cast<char>(item.key);
    if (item.open) text += '!';
    if (item.count != 1) text += " x" + std::to_string(item.count);
    text += " " + std::to_string(item.weight / 1'000'000);
  }
  return text;
}

std::string Blamed(const CallTree& tree) {
  std::string text;
  for (uint64_t key : tree.BlamedPath()) text += static_cast<char>(key);
  return text;
}

struct Golden {
  const char* name;
  const char* events;
  const char* listing;
  const char* blamed;
  uint64_t unmatched;
  uint64_t repaired;
};

class GoldenTree : public testing::TestWithParam<Golden> {};

TEST_P(GoldenTree, IsAsDrawn) {
  const CallTree tree = TreeOf(GetParam().events);
  EXPECT_EQ(Listing(tree.Items()), GetParam().listing);
  EXPECT_EQ(Blamed(tree), GetParam().blamed);
  EXPECT_EQ(tree.unmatched_leaves(), GetParam().unmatched);
  EXPECT_EQ(tree.repaired_calls(), GetParam().repaired);
}

INSTANTIATE_TEST_SUITE_P(
    Rings, GoldenTree,
    testing::Values(
        Golden{"Plain", "A+0 B+100 B-800 C+800 C-900 A-1000 .1000", "A 1000 | .B 700 | .C 100",
               "AB", 0, 0},
        Golden{"UnmatchedEnd", "B-5 A+10 B-20 A-1010 C-1015 .1020", "A 1000", "A", 3, 0},
        Golden{"EndOfTheInnerCallLost", "A+0 B+100 C+200 A-1000 D+1000 D-1200 .1200",
               "A 1000 | .B 900 | ..C 800 | D 200", "ABC", 0, 2},
        Golden{"NeverEnded", "A+0 B+10 C+20 C-30 .1500", "A! 1500 | .B! 1490 | ..C 10", "AB", 0, 0},
        Golden{"Recursion", "A+0 A+100 A+200 A-800 A-900 A-1000 .1000", "A 1000 | .A 800 | ..A 600",
               "AAA", 0, 0},
        // Calls of one method by one caller are one line, wherever they are.
        Golden{"SiblingsMerged", "A+0 B+0 B-100 C+100 C-150 B+150 B-400 B+400 B-900 A-1000 .1000",
               "A 1000 | .B x3 850 | .C 50", "AB", 0, 0},
        Golden{"MergedSiblingsMergeWhatTheyCalled",
               "A+0 B+0 C+0 C-90 B-100 B+100 D+100 D-150 C+150 C-400 B-500 A-500 .500",
               "A 500 | .B x2 500 | ..C x2 340 | ..D 50", "ABC", 0, 0},
        // B begins before A ends and ends after it: A's end closes B, whose own end is then
        // nobody's.
        Golden{"OverlappingSiblings", "A+0 B+600 A-1000 B-1400 C+1400 C-1500 .1500",
               "A 1000 | .B 400 | C 100", "AB", 1, 1},
        Golden{"SpreadThin", "A+0 B+0 B-250 C+250 C-500 D+500 D-750 E+750 E-1000 A-1000 .1000",
               "A 1000 | .B 250 | .C 250 | .D 250 | .E 250", "A", 0, 0},
        // 30 days: beyond 2^31 us, and beyond 2^31 ms.
        Golden{"LongerThanThirtyTwoBits", "A+0 B+1 B-2592000000 A-2592000001 .2592000001",
               "A 2592000001 | .B 2591999999", "AB", 0, 0},
        Golden{"Empty", ".100", "", "", 0, 0}),
    [](const auto& golden) { return golden.param.name; });

// The key is that of the path, so that it does not change with times, laps of the ring that took
// the outer calls' begins (they are carried into the window), or calls beside the path.
TEST(GoldenTree, KeyOutlivesLapsAndOtherTimes) {
  const std::string whole = Blamed(TreeOf("A+0 B+10 C+20 C-900 B-905 A-910 .910"));
  EXPECT_EQ(Blamed(TreeOf("A+300 B+300 C+300 C-900 B-905 A-910 .910")), whole);
  EXPECT_EQ(Blamed(TreeOf("A+0 X+0 X-100 B+110 Y+110 Y-115 C+120 .3000")), whole);
}

}  // namespace
}  // namespace jankbox

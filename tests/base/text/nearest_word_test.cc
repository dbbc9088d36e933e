#include "base/text/nearest_word.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

const std::vector<std::string> kCommands = {"run", "list", "show", "export", "doctor"};

TEST(NearestWord, MistypedWordFindsItsCommand) {
  EXPECT_EQ(NearestWord("lst", kCommands), "list");
  EXPECT_EQ(NearestWord("shwo", kCommands), "show");
  EXPECT_EQ(NearestWord("exprot", kCommands), "export");
  EXPECT_EQ(NearestWord("rn", kCommands), "run");
}

TEST(NearestWord, BeginningFindsItsCommand) { EXPECT_EQ(NearestWord("doc", kCommands), "doctor"); }

TEST(NearestWord, FarOrHugeWordFindsNothing) {
  EXPECT_EQ(NearestWord("frobnicate", kCommands), "");
  EXPECT_EQ(NearestWord("", kCommands), "");
  EXPECT_EQ(NearestWord(std::string(100'000, 'l'), kCommands), "");
}

}  // namespace
}  // namespace jankbox

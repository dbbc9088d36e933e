#include "tracer/perfetto/utf8.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/perfetto/message_check.h"
#include "tests/perfetto/trace.pb.h"

namespace jankbox {
namespace {

TEST(ToValidUtf8, ValidTextIsKept) {
  for (std::string_view text :
       {"", "plain", "Zürich", "画面", "\xf0\x9f\x98\x80!", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(ToValidUtf8(text), text);
  }
}

TEST(ToValidUtf8, CutOffCharacterAtTheEndIsDropped) {
  EXPECT_EQ(ToValidUtf8("a\xc3"), "a");
  EXPECT_EQ(ToValidUtf8("a\xe7\x94"), "a");
  EXPECT_EQ(ToValidUtf8("a\xf0\x9f\x98"), "a");
}

TEST(ToValidUtf8, MalformedBytesBecomeQuestionMarks) {
  EXPECT_EQ(ToValidUtf8("a\x80z"), "a?z");
  EXPECT_EQ(ToValidUtf8("\xff\xfe"), "??");
  EXPECT_EQ(ToValidUtf8("\xc0\xaf."), "??.");          // overlong
  EXPECT_EQ(ToValidUtf8("\xed\xa0\x80."), "???.");     // a surrogate
  EXPECT_EQ(ToValidUtf8("\xf4\x90\x80\x80"), "????");  // beyond U+10FFFF
  EXPECT_EQ(ToValidUtf8("\xe7\x94x"), "??x");
}

TEST(ToValidUtf8, AnyBytesBecomeUtf8) {
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (uint32_t n = random() % 9; n > 0; --n) {
      bytes += static_cast<char>(random() % 2 == 0 ? random() : 0x80 + random() % 0x80);
    }
    testproto::Trigger trigger;
    trigger.set_trigger_name(ToValidUtf8(bytes));
    ASSERT_EQ(testing::CheckMessage(trigger), "") << round;
  }
}

}  // namespace
}  // namespace jankbox

#include "base/utf8.h"

#include <gtest/gtest.h>
#include <iconv.h>

#include <random>

namespace jankbox {
namespace {

// The C library's opinion.
bool IsUtf8(std::string text) {
  const iconv_t decoder = iconv_open("UTF-32LE", "UTF-8");
  std::string out(text.size() * 4 + 4, '\0');
  char* from = text.data();
  char* to = out.data();
  size_t from_left = text.size();
  size_t to_left = out.size();
  const size_t result = iconv(decoder, &from, &from_left, &to, &to_left);
  iconv_close(decoder);
  return result != static_cast<size_t>(-1) && from_left == 0;
}

std::string Replaced(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += "\xef\xbf\xbd";
  return text;
}

TEST(ToValidUtf8, ValidTextIsKept) {
  for (std::string_view text :
       {"", "plain", "Zürich", "画面", "\xf0\x9f\x98\x80!", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(ToValidUtf8(text), text);
  }
}

TEST(ToValidUtf8, EachMalformedByteIsReplaced) {
  EXPECT_EQ(ToValidUtf8("a\x80z"), "a" + Replaced(1) + "z");
  EXPECT_EQ(ToValidUtf8("\xff\xfe"), Replaced(2));
  EXPECT_EQ(ToValidUtf8("\xc0\xaf."), Replaced(2) + ".");      // overlong
  EXPECT_EQ(ToValidUtf8("\xed\xa0\x80."), Replaced(3) + ".");  // a surrogate
  EXPECT_EQ(ToValidUtf8("\xf4\x90\x80\x80"), Replaced(4));     // beyond U+10FFFF
  EXPECT_EQ(ToValidUtf8("\xe7\x94x"), Replaced(2) + "x");
}

TEST(ToValidUtf8, CharacterCutAtTheEndIsReplaced) {  // by TASK_COMM_LEN
  EXPECT_EQ(ToValidUtf8("caf\xc3"), "caf" + Replaced(1));
  EXPECT_EQ(ToValidUtf8("a\xf0\x9f\x98"), "a" + Replaced(3));
}

TEST(ToValidUtf8, LimitNeverCutsACharacter) {
  EXPECT_EQ(ToValidUtf8("aöö", 4), "aö");
  EXPECT_EQ(ToValidUtf8("aöö", 5), "aöö");
  EXPECT_EQ(ToValidUtf8("a\xff", 3), "a");
  EXPECT_EQ(ToValidUtf8("a", 0), "");
}

TEST(ToValidUtf8, AnyBytesBecomeUtf8) {
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes;
    for (uint32_t n = random() % 9; n > 0; --n) {
      bytes += static_cast<char>(random() % 2 == 0 ? random() : 0x80 + random() % 0x80);
    }
    const std::string valid = ToValidUtf8(bytes);
    ASSERT_TRUE(IsUtf8(valid)) << round;
    if (IsUtf8(bytes)) {
      ASSERT_EQ(valid, bytes) << round;
    }
  }
}

TEST(DecodeUtf8, CodePointsOfEveryLength) {
  EXPECT_EQ(DecodeUtf8("z").code_point, U'z');
  EXPECT_EQ(DecodeUtf8("ü").code_point, U'ü');
  EXPECT_EQ(DecodeUtf8("画面").code_point, U'画');
  EXPECT_EQ(DecodeUtf8("\xf4\x8f\xbf\xbf").code_point, 0x10ffffu);
  EXPECT_EQ(DecodeUtf8("画面").bytes, 3u);
  EXPECT_EQ(DecodeUtf8("\x9f").bytes, 0u);
}

}  // namespace
}  // namespace jankbox

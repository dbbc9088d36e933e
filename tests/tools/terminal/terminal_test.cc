#include "tools/terminal/terminal.h"

#include <gtest/gtest.h>

#include <clocale>

namespace jankbox::tools {
namespace {

TEST(Printable, ControlsAndBrokenUtf8BecomeQuestionMarks) {
  EXPECT_EQ(Printable("a\x1b[31mb\n\tc\x7f"), "a?[31mb??c?");
  EXPECT_EQ(Printable("gr\xc3\xbc\xc3\x9f \xe2\x80\xa6"), "gr\xc3\xbc\xc3\x9f \xe2\x80\xa6");
  EXPECT_EQ(Printable("\xc3(\xff\xc0\xaf\xed\xa0\x80"),
            "?(??"
            "????");
  EXPECT_EQ(Printable("\xc2\x9b"
                      "31m"),
            "?31m");  // CSI as one C1 character
  EXPECT_EQ(Printable("\xe2\x80\xae"
                      "evil"),
            "?evil");  // right-to-left override
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a?b");
}

TEST(Clip, CutsByColumnsAndNeverInsideACharacter) {
  setlocale(LC_CTYPE, "C.UTF-8");
  const TextStyle style;
  EXPECT_EQ(Clip(style, "gtk_main", 8), "gtk_main");
  EXPECT_EQ(Clip(style, "gtk_main_do_event", 8), "gtk_mai…");
  EXPECT_EQ(Clip(style, "ääääää", 4), "äää…");
  EXPECT_EQ(DisplayWidth("日本"), 4u);
  EXPECT_EQ(Clip(style, "日本語", 4), "日…");
  EXPECT_EQ(Clip({.unicode = false}, "gtk_main_do_event", 8), "gtk_ma..");
}

TEST(Paint, WithoutColourIsOnlyTheText) {
  EXPECT_EQ(Paint({.colour = false}, Colour::kRed, "x"), "x");
  EXPECT_EQ(Paint({.colour = true}, Colour::kRed, "x"), "\x1b[31mx\x1b[0m");
}

}  // namespace
}  // namespace jankbox::tools

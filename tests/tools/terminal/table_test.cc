#include "tools/terminal/table.h"

#include <gtest/gtest.h>

#include <sstream>

namespace jankbox::tools {
namespace {

Table Sample() {
  Table table({{.title = "A"},
               {.title = "N", .right_aligned = true},
               {.title = "LONG", .min_width = 6},
               {.title = "EXTRA", .drop_order = 1}});
  table.AddRow({{"x"}, {"5"}, {"a rather long cell"}, {"extra text"}});
  table.AddRow({{"yy"}, {"123"}, {""}, {""}});
  return table;
}

TEST(Table, WithoutLimitIsAsWideAsItsCells) {
  EXPECT_EQ(Sample().Render({}),
            "A     N  LONG                EXTRA\n"
            "x     5  a rather long cell  extra text\n"
            "yy  123\n");
}

TEST(Table, NarrowTerminalClipsThenDrops) {
  EXPECT_EQ(Sample().Render({.columns = 32}),
            "A     N  LONG         EXTRA\n"
            "x     5  a rather l…  extra text\n"
            "yy  123\n");
  EXPECT_EQ(Sample().Render({.columns = 20}),
            "A     N  LONG\n"
            "x     5  a rather l…\n"
            "yy  123\n");
}

TEST(Table, EveryWidthIsKeptWhereItCanBe) {
  for (size_t columns = 17; columns < 60; ++columns) {
    std::istringstream lines(Sample().Render({.columns = columns}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), columns);
  }
}

}  // namespace
}  // namespace jankbox::tools

#include "tracer/atrace/atrace_symbols.h"

#include <gtest/gtest.h>

#include <string>

namespace jankbox {
namespace {

TEST(AtraceSymbolTable, KnowsWhereEachReleaseHasThem) {
  const AtraceSymbolNames& jelly_bean = AtraceSymbolsOfApiLevel(17);
  EXPECT_STREQ(jelly_bean.library, "libutils.so");
  EXPECT_STREQ(jelly_bean.enabled_tags, "_ZN7android6Tracer12sEnabledTagsE");
  EXPECT_STREQ(jelly_bean.marker_fd, "_ZN7android6Tracer8sTraceFDE");
  EXPECT_STREQ(AtraceSymbolsOfApiLevel(0).library, "libutils.so");
  for (const int level : {18, 19, 20}) {
    EXPECT_STREQ(AtraceSymbolsOfApiLevel(level).library, "libcutils.so") << level;
    EXPECT_STREQ(AtraceSymbolsOfApiLevel(level).enabled_tags, "atrace_enabled_tags") << level;
  }
  for (const int level : {21, 29, 36, 1000}) {
    EXPECT_EQ(AtraceSymbolsOfApiLevel(level).library, nullptr) << level;
    EXPECT_STREQ(AtraceSymbolsOfApiLevel(level).marker_fd, "atrace_marker_fd") << level;
  }
}

// This program has no atrace library, and must not get one by being asked.
TEST(AtraceSearch, LoadsNothingThatTheProcessDoesNotHave) {
  const Result<AtraceSymbols> symbols = AtraceSearch().Find("");
  ASSERT_FALSE(symbols.ok()) << symbols->library;
  EXPECT_EQ(symbols.status().code(), StatusCode::kNotFound);
}

TEST(AtraceSearch, AnAbsentLibraryIsNotFound) {
  EXPECT_EQ(AtraceSearch().Find("/nonexistent/libcutils.so").status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(AtraceSearch().Find("libm.so.6").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace jankbox

#include "sdk/android/jni/start_options.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

TEST(StartOptions, FieldsAreSetByTheirNames) {
  StartOptions options;
  EXPECT_TRUE(options.SetAll({"slow_message_ms", "250", "dir", "/data/x", "min_free_mib", "max"}));
  EXPECT_EQ(options.get()->slow_message_ms, 250u);
  EXPECT_STREQ(options.get()->dir, "/data/x");
  EXPECT_EQ(options.get()->min_free_mib, UINT32_MAX);
  EXPECT_EQ(options.get()->size, sizeof(jankbox_options));
}

TEST(StartOptions, TextsStayWhereTheyAre) {
  StartOptions options;
  ASSERT_TRUE(options.Set("dir", "/first"));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(options.Set("app_version", std::to_string(i)));
  EXPECT_STREQ(options.get()->dir, "/first");
  EXPECT_STREQ(options.get()->app_version, "99");
}

TEST(StartOptions, WhatIsNoOptionOrNoNumberIsNamed) {
  for (const char* number : {"", "-1", " 1", "1 ", "4294967296", "99999999999999999999", "0x10"}) {
    StartOptions options;
    EXPECT_FALSE(options.Set("anr_ms", number)) << number;
    EXPECT_EQ(options.error(), "anr_ms is not a number: " + std::string(number));
  }
  StartOptions options;
  EXPECT_FALSE(options.Set("size", "1"));
  EXPECT_EQ(options.error(), "there is no option size");
}

}  // namespace
}  // namespace jankbox

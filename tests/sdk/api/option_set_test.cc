#include "sdk/api/option_set.h"

#include <gmock/gmock.h>

#include <utility>

namespace jankbox {
namespace {

using ::testing::HasSubstr;

TEST(OptionSet, OptionsAreSetByName) {
  OptionSet options;
  EXPECT_TRUE(options
                  .SetAll({"slow_message_ms", "250", "dir", "/data/x", "min_free_mib", "none",
                           "record", "coarse", "sources", "threads, locks"})
                  .ok());
  EXPECT_EQ(options.values().slow_message_ms, 250u);
  EXPECT_STREQ(options.values().dir, "/data/x");
  EXPECT_EQ(options.values().min_free_mib, UINT32_MAX);
  EXPECT_EQ(options.values().record, JANKBOX_RECORD_COARSE);
  EXPECT_EQ(options.values().sources, JANKBOX_SOURCE_THREADS | JANKBOX_SOURCE_LOCKS);
  EXPECT_EQ(options.values().size, sizeof(jankbox_options));
}

TEST(OptionSet, NumbersOfEnumsAndMaxAreTaken) {
  OptionSet options;
  EXPECT_TRUE(options.SetAll({"record", "2", "sources", "5", "reports_a_day", "max"}).ok());
  EXPECT_EQ(options.values().record, JANKBOX_RECORD_COARSE);
  EXPECT_EQ(options.values().sources, JANKBOX_SOURCE_THREADS | JANKBOX_SOURCE_LOCKS);
  EXPECT_EQ(options.values().reports_a_day, UINT32_MAX);
}

TEST(OptionSet, ZeroTurnsOffAThresholdThatHasANone) {
  for (const char* off : {"0", "none", "max"}) {
    OptionSet options;
    EXPECT_TRUE(options.Set("slow_method_ms", off).ok());
    EXPECT_EQ(options.values().slow_method_ms, UINT32_MAX);
  }
  OptionSet options;
  EXPECT_EQ(options.Set("slow_method_ms", "9").message(),
            "slow_method_ms is \"9\": must be 10 to 4294967294 or none");
  EXPECT_FALSE(options.Set("reports_a_day", "0").ok()) << "0 reports is not: no limit";
}

TEST(OptionSet, TextsOutliveLaterOnesAndAMove) {
  OptionSet first;
  ASSERT_TRUE(first.Set("dir", "/first").ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(first.Set("app_version", std::to_string(i)).ok());
  const OptionSet options = std::move(first);
  EXPECT_STREQ(options.values().dir, "/first");
  EXPECT_STREQ(options.values().app_version, "99");
}

TEST(OptionSet, BadNumbersAreNamedWithTheirRange) {
  for (const char* bad : {"", "0", "9", "-1", " 10", "10 ", "+10", "600001", "4294967306", "soon",
                          "0x10", "none", "99999999999999999999"}) {
    OptionSet options;
    EXPECT_EQ(options.Set("slow_message_ms", bad).message(),
              "slow_message_ms is \"" + std::string(bad) + "\": must be 10 to 600000");
    EXPECT_EQ(options.values().slow_message_ms, 0u);
  }
}

TEST(OptionSet, BadWordsAreNamedWithTheRightOnes) {
  OptionSet options;
  EXPECT_EQ(options.Set("record", "exat").message(),
            "record is \"exat\": must be governed, exact, coarse, ui_only or off");
  EXPECT_EQ(options.Set("record", "0").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(options.Set("record", "6").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(options.Set("record", "exact,off").code(), StatusCode::kInvalidArgument);
  for (const char* bad : {"", "off,io", "io,", "io,disk", "9", "0", "16"}) {
    EXPECT_THAT(options.Set("sources", bad).message(),
                HasSubstr("must be some of threads, io, locks or off"))
        << bad;
  }
  EXPECT_EQ(options.values().sources, 0u);
}

TEST(OptionSet, UnknownNamesGetTheNearestOne) {
  OptionSet options;
  EXPECT_EQ(options.Set("slow_mesage_ms", "100").message(),
            "\"slow_mesage_ms\" is not an option: did you mean slow_message_ms?");
  EXPECT_THAT(options.Set("size", "1").message(), HasSubstr("\"size\" is not an option"));
  EXPECT_EQ(options.Set("frobnicate the whole world", "1").message(),
            "\"frobnicate the whole world\" is not an option");
}

TEST(OptionRows, NoWordIsUnset) {
  for (const OptionRow& row : OptionRows()) {
    for (const OptionWord& word : row.words) EXPECT_NE(word.value, 0u) << row.name;
  }
}

TEST(OptionRows, DefaultsAreValid) {
  for (const OptionRow& row : OptionRows()) {
    if (row.text != nullptr) continue;
    jankbox_options options{};
    options.*row.number = row.default_number;
    EXPECT_TRUE(row.Check(options).ok()) << row.name;
  }
}

}  // namespace
}  // namespace jankbox

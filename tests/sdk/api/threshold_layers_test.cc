#include "sdk/api/threshold_layers.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "base/clock.h"
#include "sdk/api/config_file.h"

namespace jankbox {
namespace {

ThresholdLayers Started(const OptionLayers& layers = {}) {
  return ThresholdLayers(ValidateOptions(nullptr, layers).value());
}

TEST(ThresholdLayers, OnlyWhatIsGivenChanges) {
  ThresholdLayers layers = Started();
  jankbox_options given{};
  given.size = sizeof(given);
  given.slow_message_ms = 300;
  given.jank_dropped_frames = 3;
  ASSERT_TRUE(layers.Configure(given).ok());
  EXPECT_EQ(layers.Now().slow_message_ns, 300 * kNsPerMs);
  EXPECT_EQ(layers.Now().jank_dropped_frames, 3u);
  EXPECT_EQ(layers.Now().anr_ns, 5000 * kNsPerMs);
}

TEST(ThresholdLayers, TracesHaveThemByTheNamesOfTheirOptions) {
  ThresholdLayers layers = Started();
  jankbox_options given{};
  given.size = sizeof(given);
  given.slow_message_ms = 300;
  ASSERT_TRUE(layers.Configure(given).ok());
  std::map<std::string, uint64_t> values;
  std::string names;
  for (const SnapshotFact& fact : layers.Facts()) {
    EXPECT_EQ(fact.group, "thresholds");
    values[fact.name] = fact.value;
    names += (names.empty() ? "" : ", ") + fact.name;
  }
  EXPECT_EQ(values.at("slow_message_ms"), 300u);
  EXPECT_EQ(values.at("anr_ms"), 5000u);
  EXPECT_EQ(names, ThresholdNames());
}

TEST(ThresholdLayers, TheLaterChangeWins) {
  ThresholdLayers layers = Started();
  jankbox_options given{};
  given.slow_message_ms = 300;
  ASSERT_TRUE(layers.Configure(given).ok());
  given.slow_message_ms = 400;
  ASSERT_TRUE(layers.Configure(given).ok());
  EXPECT_EQ(layers.Now().slow_message_ns, 400 * kNsPerMs);
}

TEST(ThresholdLayers, AnrStaysTheSlowest) {
  ThresholdLayers layers = Started();
  jankbox_options given{};
  given.slow_message_ms = 20'000;
  ASSERT_TRUE(layers.Configure(given).ok());
  EXPECT_EQ(layers.Now().lag_ns, 20'000 * kNsPerMs);
  EXPECT_EQ(layers.Now().anr_ns, 20'000 * kNsPerMs);
  EXPECT_EQ(layers.Now().anr_background_ns, 20'000 * kNsPerMs);
}

TEST(ThresholdLayers, WhatIsPinnedStaysUntilItIsTakenAway) {
  OptionLayers outside;
  outside.TakeEntries("", "slow_message_ms=100", &outside.pinned);
  ThresholdLayers layers = Started(outside);
  EXPECT_EQ(layers.Now().slow_message_ns, 100 * kNsPerMs);
  jankbox_options given{};
  given.slow_message_ms = 300;
  ASSERT_TRUE(layers.Configure(given).ok());
  EXPECT_EQ(layers.Now().slow_message_ns, 100 * kNsPerMs);
  layers.Pin({});
  EXPECT_EQ(layers.Now().slow_message_ns, 300 * kNsPerMs);
}

TEST(ThresholdLayers, OutOfRangeAndWhatCannotChangeAreNamedAndChangeNothing) {
  ThresholdLayers layers = Started();
  jankbox_options given{};
  given.anr_ms = 6000;
  given.slow_message_ms = 9;
  EXPECT_EQ(layers.Configure(given).message(), "slow_message_ms is 9: must be 10 to 600000");
  given.slow_message_ms = 0;
  given.ring_bytes = 1 << 20;
  EXPECT_EQ(layers.Configure(given).message(),
            "ring_bytes cannot change while Jankbox records; these can: slow_message_ms, anr_ms, "
            "jank_dropped_frames, lag_ms, anr_background_ms, cold_start_ms, warm_start_ms, "
            "slow_method_ms");
  EXPECT_EQ(layers.Now().anr_ns, 5000 * kNsPerMs);
}

TEST(ConfigFile, LinesCommentsAndBlanks) {
  const Result<jankbox_options> options =
      ParseConfig("# of the release\n\n slow_message_ms = 300 # was 700\r\nanr_ms=4000");
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options.value().slow_message_ms, 300u);
  EXPECT_EQ(options.value().anr_ms, 4000u);
  EXPECT_EQ(options.value().lag_ms, 0u);
}

TEST(ConfigFile, BadLinesAreNamed) {
  EXPECT_EQ(ParseConfig("slow_message_ms 300").status().message(), "line 1: no \"=\"");
  EXPECT_EQ(ParseConfig("\nanr_ms = soon").status().message(),
            "line 2: anr_ms is \"soon\": must be 10 to 3600000");
  for (const char* number : {"", "0", "-5", "+5", "5000000000", "5s", "99999999999999999999999"}) {
    EXPECT_FALSE(ParseConfig(std::string("anr_ms = ") + number).ok()) << number;
  }
  EXPECT_EQ(ParseConfig("dir = /tmp").status().message(),
            "line 1: dir cannot change while Jankbox records; these can: " + ThresholdNames());
  EXPECT_EQ(ParseConfig("anr_msec = 10").status().message(),
            "line 1: \"anr_msec\" is not an option: did you mean anr_ms?");
}

TEST(ConfigFile, IsReadAgainWhereItChanged) {
  std::string folder = (std::filesystem::temp_directory_path() / "jankbox-config-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/thresholds";
  ConfigFile file(path);
  EXPECT_FALSE(file.Look().has_value());
  std::ofstream(path) << "anr_ms = 4000\n";
  EXPECT_EQ(file.Look()->value().anr_ms, 4000u);
  EXPECT_FALSE(file.Look().has_value());
  std::ofstream(path) << "anr_ms = 400000\n";
  EXPECT_EQ(file.Look()->value().anr_ms, 400'000u);
  std::ofstream(path) << "what\n";
  EXPECT_EQ(file.Look()->status().message(), path + ", line 1: no \"=\"");
  std::filesystem::remove_all(folder);
  EXPECT_FALSE(file.Look().has_value());
  EXPECT_FALSE(ConfigFile("").Look().has_value());
}

}  // namespace
}  // namespace jankbox

#include "sdk/api/thresholds.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "sdk/api/config_file.h"

namespace jankbox {
namespace {

constexpr Thresholds kNow = {.slow_message_ns = 700 * kNsPerMs,
                             .lag_ns = 2000 * kNsPerMs,
                             .anr_ns = 5000 * kNsPerMs,
                             .anr_background_ns = 10'000 * kNsPerMs,
                             .cold_start_ns = 10'000 * kNsPerMs,
                             .warm_start_ns = 4000 * kNsPerMs,
                             .jank_dropped_frames = 9};

TEST(Thresholds, OnlyWhatIsGivenChanges) {
  jankbox_options given{};
  given.size = sizeof(given);
  given.slow_message_ms = 300;
  given.jank_dropped_frames = 3;
  const Result<Thresholds> changed = ChangeThresholds(kNow, given);
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed.value().slow_message_ns, 300 * kNsPerMs);
  EXPECT_EQ(changed.value().jank_dropped_frames, 3u);
  EXPECT_EQ(changed.value().anr_ns, 5000 * kNsPerMs);
}

TEST(Thresholds, AnrStaysTheSlowest) {
  jankbox_options given{};
  given.slow_message_ms = 20'000;
  const Result<Thresholds> changed = ChangeThresholds(kNow, given);
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed.value().lag_ns, 20'000 * kNsPerMs);
  EXPECT_EQ(changed.value().anr_ns, 20'000 * kNsPerMs);
  EXPECT_EQ(changed.value().anr_background_ns, 20'000 * kNsPerMs);
}

TEST(Thresholds, OutOfRangeAndWhatCannotChangeAreNamed) {
  jankbox_options given{};
  given.slow_message_ms = 9;
  EXPECT_EQ(ChangeThresholds(kNow, given).status().message(),
            "slow_message_ms is 9: must be 10 to 600000");
  given = {};
  given.ring_bytes = 1 << 20;
  EXPECT_NE(ChangeThresholds(kNow, given).status().message().find("only these can be changed"),
            std::string::npos);
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
            "line 2: \"soon\" is no number above 0");
  for (const char* number : {"", "0", "-5", "+5", "5000000000", "5s", "99999999999999999999999"}) {
    EXPECT_FALSE(ParseConfig(std::string("anr_ms = ") + number).ok()) << number;
  }
  EXPECT_NE(
      ParseConfig("dir = /tmp").status().message().find("\"dir\" is none of: slow_message_ms"),
      std::string::npos);
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

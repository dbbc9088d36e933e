#include "sdk/api/desktop_requests.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace jankbox {
namespace {

constexpr char kProcess[] = "com.example.app";

Thresholds AtStart() {
  return {.slow_message_ns = 700 * kNsPerMs,
          .lag_ns = 2000 * kNsPerMs,
          .anr_ns = 5000 * kNsPerMs,
          .anr_background_ns = 10'000 * kNsPerMs,
          .cold_start_ns = 10'000 * kNsPerMs,
          .warm_start_ns = 4000 * kNsPerMs,
          .jank_dropped_frames = 9};
}

PropertyValues Of(const std::vector<std::pair<std::string, std::string>>& entries) {
  PropertyValues values;
  for (const auto& [name, value] : entries) values.Set("debug.jankbox." + name, value);
  return values;
}

TEST(DesktopOptions, HoldInPlaceOfWhatTheAppGave) {
  jankbox_options options{};
  options.slow_message_ms = 300;
  options.anr_ms = 4000;
  const Status added = AddDesktopOptions(
      Of({{"slow_message_ms", "100"}, {"window_ms", "30000"}, {"dir", "/sdcard"}}), kProcess,
      &options);
  EXPECT_TRUE(added.ok());
  EXPECT_EQ(options.slow_message_ms, 100u);
  EXPECT_EQ(options.window_ms, 30'000u);
  EXPECT_EQ(options.anr_ms, 4000u);
  EXPECT_EQ(options.dir, nullptr);
}

TEST(DesktopOptions, AnotherAppIsMeant) {
  jankbox_options options{};
  ASSERT_TRUE(
      AddDesktopOptions(Of({{"app", "com.other"}, {"anr_ms", "100"}}), kProcess, &options).ok());
  EXPECT_EQ(options.anr_ms, 0u);
  ASSERT_TRUE(
      AddDesktopOptions(Of({{"app", kProcess}, {"anr_ms", "100"}}), kProcess, &options).ok());
  EXPECT_EQ(options.anr_ms, 100u);
}

TEST(DesktopOptions, WhatIsNoNumberIsNamedAndChangesNothing) {
  for (const char* bad : {"0", "-1", "soon", "1s", "4294967296", " 1"}) {
    jankbox_options options{};
    const Status added =
        AddDesktopOptions(Of({{"anr_ms", "100"}, {"lag_ms", bad}}), kProcess, &options);
    EXPECT_EQ(added.message(),
              "debug.jankbox.lag_ms is \"" + std::string(bad) + "\": no number above 0");
    EXPECT_EQ(options.anr_ms, 0u);
  }
}

TEST(DesktopOptions, NamesFitAndNoneIsAText) {
  for (const std::string_view name : DesktopOptionNames()) {
    jankbox_options options{};
    uint32_t* field = DesktopOption(name, &options);
    ASSERT_NE(field, nullptr);
    *field = 7;
    EXPECT_EQ(options.dir, nullptr);
    EXPECT_EQ(options.upload_url, nullptr);
  }
  jankbox_options options{};
  for (const char* name : {"dir", "upload_url", "size", "flags", "atrace", ""}) {
    EXPECT_EQ(DesktopOption(name, &options), nullptr) << name;
  }
  EXPECT_TRUE(HoldsAtOnce("anr_ms"));
  EXPECT_FALSE(HoldsAtOnce("window_ms"));
}

TEST(DesktopRequests, ThresholdsComeAndGoBack) {
  DesktopRequests requests(kProcess, AtStart(), Of({}));
  EXPECT_FALSE(requests.Look(Of({})));
  const PropertyValues lower = Of({{"slow_message_ms", "100"}, {"jank_dropped_frames", "3"}});
  const std::optional<DesktopAsk> ask = requests.Look(lower);
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->thresholds.size, sizeof(jankbox_options));
  EXPECT_EQ(ask->thresholds.slow_message_ms, 100u);
  EXPECT_EQ(ask->thresholds.jank_dropped_frames, 3u);
  EXPECT_EQ(ask->thresholds.anr_ms, 0u);
  EXPECT_TRUE(ask->snapshot.empty());
  EXPECT_FALSE(requests.Look(lower));
  const std::optional<DesktopAsk> back = requests.Look(Of({}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->thresholds.slow_message_ms, 700u);
  EXPECT_EQ(back->thresholds.jank_dropped_frames, 9u);
}

TEST(DesktopRequests, EachNewSnapshotIsAskedForOnce) {
  DesktopRequests requests(kProcess, AtStart(), Of({{"snapshot", "left behind"}}));
  EXPECT_FALSE(requests.Look(Of({{"snapshot", "left behind"}})));
  const std::optional<DesktopAsk> ask = requests.Look(Of({{"snapshot", "1"}}));
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->snapshot, "desktop 1");
  EXPECT_EQ(ask->thresholds.size, 0u);
  EXPECT_FALSE(requests.Look(Of({{"snapshot", "1"}})));
  EXPECT_FALSE(requests.Look(Of({})));
  EXPECT_TRUE(requests.Look(Of({{"snapshot", "1"}})));
  EXPECT_FALSE(requests.Look(Of({{"snapshot", "2"}, {"app", "com.other"}})));
}

}  // namespace
}  // namespace jankbox

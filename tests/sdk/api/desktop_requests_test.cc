#include "sdk/api/desktop_requests.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr char kProcess[] = "com.example.app";

PropertyValues Of(const std::vector<std::pair<std::string, std::string>>& entries) {
  PropertyValues values;
  for (const auto& [name, value] : entries) values.Set("debug.jankbox." + name, value);
  return values;
}

OptionLayers Taken(const std::vector<std::pair<std::string, std::string>>& entries) {
  OptionLayers layers;
  TakeDesktopOptions(Of(entries), kProcess, &layers);
  return layers;
}

TEST(DesktopOptions, NumbersAndWordsArePinned) {
  const OptionLayers layers =
      Taken({{"slow_message_ms", "100"}, {"window_ms", "30000"}, {"record", "exact"}});
  EXPECT_EQ(layers.ignored, "");
  EXPECT_EQ(layers.pinned.values().slow_message_ms, 100u);
  EXPECT_EQ(layers.pinned.values().window_ms, 30'000u);
  EXPECT_EQ(layers.pinned.values().record, JANKBOX_RECORD_EXACT);
  EXPECT_EQ(layers.pinned.values().anr_ms, 0u);
}

// What leaves the device, and where it is kept, stays the app's decision.
TEST(DesktopOptions, TextsAreTheAppsOnly) {
  const OptionLayers layers = Taken({{"dir", "/sdcard"}, {"upload_url", "http://x"}});
  for (const OptionRow& row : OptionRows()) {
    EXPECT_FALSE(row.IsSetIn(layers.pinned.values())) << row.name;
  }
}

TEST(DesktopOptions, AnotherAppIsMeant) {
  EXPECT_EQ(Taken({{"app", "com.other"}, {"anr_ms", "100"}}).pinned.values().anr_ms, 0u);
  EXPECT_EQ(Taken({{"app", kProcess}, {"anr_ms", "100"}}).pinned.values().anr_ms, 100u);
}

TEST(DesktopOptions, ABadOneIsNamedAndPassedOver) {
  for (const char* bad : {"0", "-1", "soon", "1s", "4294967296", " 1"}) {
    const OptionLayers layers = Taken({{"anr_ms", "100"}, {"lag_ms", bad}});
    EXPECT_EQ(layers.ignored, "property debug.jankbox.lag_ms is ignored: lag_ms is \"" +
                                  std::string(bad) + "\": must be 10 to 3600000");
    EXPECT_EQ(layers.pinned.values().anr_ms, 100u);
    EXPECT_EQ(layers.pinned.values().lag_ms, 0u);
  }
}

TEST(DesktopRequests, ThresholdsComeAndGo) {
  DesktopRequests requests(kProcess, Of({{"anr_ms", "4000"}}));
  EXPECT_FALSE(requests.Poll(Of({{"anr_ms", "4000"}})));
  const PropertyValues lower =
      Of({{"slow_message_ms", "100"}, {"jank_dropped_frames", "3"}, {"window_ms", "200"}});
  const std::optional<DesktopAsk> ask = requests.Poll(lower);
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->thresholds.size, sizeof(jankbox_options));
  EXPECT_EQ(ask->thresholds.slow_message_ms, 100u);
  EXPECT_EQ(ask->thresholds.jank_dropped_frames, 3u);
  EXPECT_EQ(ask->thresholds.anr_ms, 0u);
  EXPECT_EQ(ask->thresholds.window_ms, 0u);
  EXPECT_TRUE(ask->snapshot.empty());
  EXPECT_FALSE(requests.Poll(lower));
  const std::optional<DesktopAsk> gone = requests.Poll(Of({}));
  ASSERT_TRUE(gone);
  EXPECT_EQ(gone->thresholds.size, sizeof(jankbox_options));
  EXPECT_EQ(gone->thresholds.slow_message_ms, 0u);
}

TEST(DesktopRequests, EachNewSnapshotIsAskedForOnce) {
  DesktopRequests requests(kProcess, Of({{"snapshot", "left behind"}}));
  EXPECT_FALSE(requests.Poll(Of({{"snapshot", "left behind"}})));
  const std::optional<DesktopAsk> ask = requests.Poll(Of({{"snapshot", "1"}}));
  ASSERT_TRUE(ask);
  EXPECT_EQ(ask->snapshot, "desktop 1");
  EXPECT_EQ(ask->thresholds.size, 0u);
  EXPECT_FALSE(requests.Poll(Of({{"snapshot", "1"}})));
  EXPECT_FALSE(requests.Poll(Of({})));
  EXPECT_TRUE(requests.Poll(Of({{"snapshot", "1"}})));
  EXPECT_FALSE(requests.Poll(Of({{"snapshot", "2"}, {"app", "com.other"}})));
}

}  // namespace
}  // namespace jankbox

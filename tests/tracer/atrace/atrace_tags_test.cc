#include "tracer/atrace/atrace_tags.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <string>
#include <vector>

namespace jankbox {
namespace {

TEST(AtraceTags, BitsAreThoseOfCutils) {
  const uint64_t tags[] = {kTagAlways,
                           kTagGraphics,
                           kTagInput,
                           kTagView,
                           kTagWebView,
                           kTagWindowManager,
                           kTagActivityManager,
                           kTagSyncManager,
                           kTagAudio,
                           kTagVideo,
                           kTagCamera,
                           kTagHal,
                           kTagApp,
                           kTagResources,
                           kTagDalvik,
                           kTagRenderScript,
                           kTagBionic,
                           kTagPower,
                           kTagPackageManager,
                           kTagSystemServer,
                           kTagDatabase,
                           kTagNetwork,
                           kTagAdb,
                           kTagVibrator,
                           kTagAidl,
                           kTagNnapi,
                           kTagRro};
  uint64_t all = 0;
  for (size_t bit = 0; bit < std::size(tags); ++bit) {
    EXPECT_EQ(tags[bit], uint64_t{1} << bit);
    all |= tags[bit];
  }
  EXPECT_EQ(all, kValidTags);
  EXPECT_EQ(kValidTags, 0x7ffffffu);
  EXPECT_EQ(kTagNotReady, 0x8000000000000000u);
  EXPECT_EQ(kDefaultCaptureTags, kTagGraphics | kTagInput | kTagView | kTagWindowManager |
                                     kTagActivityManager | kTagAudio | kTagHal | kTagDalvik);
}

uint64_t TagsOfFlags(const std::string& flags) {
  PropertyValues properties;
  EXPECT_TRUE(properties.Set(kEnableFlagsProperty, flags));
  return ComputeAtraceTags({.properties = &properties, .cmdline = "app"});
}

TEST(AtraceTags, FlagsAreANumberInAnyNotationOfC) {
  EXPECT_EQ(TagsOfFlags("0"), kTagAlways);
  EXPECT_EQ(TagsOfFlags("0x496e"), 0x496e | kTagAlways);
  EXPECT_EQ(TagsOfFlags("18798"), 0x496e | kTagAlways);
  EXPECT_EQ(TagsOfFlags("044556"), 0x496e | kTagAlways);
  EXPECT_EQ(TagsOfFlags(" 2"), 3u);
  EXPECT_EQ(TagsOfFlags("0x100496e"), 0x100496e | kTagAlways);
}

TEST(AtraceTags, NoFlagsLeaveWhatIsAlwaysOn) {
  const PropertyValues none;
  EXPECT_EQ(ComputeAtraceTags({.properties = &none, .cmdline = "app"}), kTagAlways);
  EXPECT_EQ(TagsOfFlags(""), kTagAlways);
}

TEST(AtraceTags, FlagsThatAreNoNumberTurnEverythingOff) {
  for (const char* bad : {"gfx", "0x", "12 ", "1,2", "0x496g", "-", "1.5"}) {
    EXPECT_EQ(TagsOfFlags(bad), 0u) << bad;
  }
}

TEST(AtraceTags, FlagsThatAreTooLargeTurnEverythingOff) {
  EXPECT_EQ(TagsOfFlags("0xffffffffffffffff"), 0u);  // the value that strtoull fails with
  EXPECT_EQ(TagsOfFlags("0x10000000000000000"), 0u);
  EXPECT_EQ(TagsOfFlags("99999999999999999999999"), 0u);
  EXPECT_EQ(TagsOfFlags("-1"), 0u);
  EXPECT_EQ(TagsOfFlags("0xfffffffffffffffe"), kValidTags & ~kTagApp);
}

TEST(AtraceTags, BitsBeyondTheLastTagAreMaskedOut) {
  EXPECT_EQ(TagsOfFlags("0x8000000008000002"), 3u);
}

TEST(AtraceTags, AProcessThatIsNotToTraceIsNotReady) {
  PropertyValues properties;
  ASSERT_TRUE(properties.Set(kEnableFlagsProperty, "0x496e"));
  EXPECT_EQ(ComputeAtraceTags(
                {.properties = &properties, .cmdline = "zygote64", .tracing_enabled = false}),
            kTagNotReady);
}

// debug.atrace.app_number, app_0 …, ro.debuggable, whether the app is debuggable.
bool HasApp(const std::string& number, const std::vector<std::string>& apps,
            const std::string& system_debuggable, bool app_debuggable,
            const std::string& flags = "0") {
  PropertyValues properties;
  EXPECT_TRUE(properties.Set(kAppNumberProperty, number));
  EXPECT_TRUE(properties.Set(kDebuggableProperty, system_debuggable));
  EXPECT_TRUE(properties.Set(kEnableFlagsProperty, flags));
  for (size_t i = 0; i < apps.size(); ++i) {
    EXPECT_TRUE(properties.Set(AtraceAppProperty(static_cast<int32_t>(i)), apps[i]));
  }
  const uint64_t tags = ComputeAtraceTags(
      {.properties = &properties, .cmdline = "com.example", .app_debuggable = app_debuggable});
  return (tags & kTagApp) != 0;
}

TEST(AtraceAppTag, NeedsADebuggableSystemOrApp) {
  const std::vector<std::string> us = {"com.example"};
  EXPECT_FALSE(HasApp("1", us, "0", false));
  EXPECT_FALSE(HasApp("1", us, "", false));
  EXPECT_TRUE(HasApp("1", us, "0", true));
  for (const char* yes : {"1", "y", "yes", "on", "true"}) EXPECT_TRUE(HasApp("1", us, yes, false));
  for (const char* no : {"0", "n", "no", "off", "false", "2", "TRUE", " 1", "1 ", "yess"}) {
    EXPECT_FALSE(HasApp("1", us, no, false)) << no;
  }
}

TEST(AtraceAppTag, NeedsTheCommandLineAmongTheFirstSoMany) {
  EXPECT_FALSE(HasApp("1", {"com.other"}, "1", false));
  EXPECT_FALSE(HasApp("1", {"com.exampl"}, "1", false));
  EXPECT_FALSE(HasApp("1", {"com.example2"}, "1", false));
  EXPECT_FALSE(HasApp("1", {"COM.EXAMPLE"}, "1", false));
  EXPECT_TRUE(HasApp("1", {"*"}, "1", false));
  EXPECT_FALSE(HasApp("1", {"com.*"}, "1", false));
  EXPECT_TRUE(HasApp("2", {"com.other", "com.example"}, "1", false));
  EXPECT_FALSE(HasApp("1", {"com.other", "com.example"}, "1", false));
  EXPECT_TRUE(HasApp("3", {"com.example"}, "1", false)) << "fewer than the number says";
  EXPECT_FALSE(HasApp("0", {"com.example"}, "1", false));
}

TEST(AtraceAppTag, NumberIsReadAsPropertiesAre) {
  for (const char* one : {"1", "0x1", "01", "+1", " 1", "1x", "1.9"}) {
    EXPECT_TRUE(HasApp(one, {"*"}, "1", false)) << one;
  }
  for (const char* none : {"", "-1", "x", "2147483648", "-2147483649", "99999999999999999999"}) {
    EXPECT_FALSE(HasApp(none, {"*"}, "1", false)) << none;
  }
}

TEST(AtraceAppTag, IsOffWhereNoAppIsNamed) {
  PropertyValues properties;
  ASSERT_TRUE(properties.Set(kDebuggableProperty, "1"));
  EXPECT_EQ(ComputeAtraceTags({.properties = &properties, .cmdline = ""}), kTagAlways);
}

TEST(AtraceAppTag, LooksAtNoMoreAppsThanTheLimit) {
  PropertyValues properties;
  ASSERT_TRUE(properties.Set(kAppNumberProperty, "2147483647"));
  EXPECT_EQ(AtraceAppCount(properties), kMaxAtraceApps);
  std::vector<std::string> apps(kMaxAtraceApps, "com.other");
  apps.back() = "*";
  EXPECT_TRUE(HasApp("2147483647", apps, "1", false));
  apps.back() = "com.other";
  apps.push_back("*");
  EXPECT_FALSE(HasApp("2147483647", apps, "1", false));
}

TEST(AtraceAppTag, OnlyFlagsDoNotTurnItOn) {
  EXPECT_FALSE(HasApp("1", {"com.other"}, "1", true, "0x1000"));
  EXPECT_FALSE(HasApp("1", {"*"}, "0", false, "0x7ffffff"));
  EXPECT_TRUE(HasApp("1", {"*"}, "0", true, "0x7ffffff"));
}

TEST(AtraceTags, ErrnoStaysAsItWas) {
  errno = ENOTTY;
  TagsOfFlags("99999999999999999999999");
  HasApp("99999999999999999999999", {"*"}, "1", false);
  EXPECT_EQ(errno, ENOTTY);
}

TEST(PropertyValues, RefusesNamesThatAndroidRefuses) {
  PropertyValues properties;
  for (const char* bad : {"", ".a", "a.", "a..b", "../a", "a/../b", "a/b", "a b", "a=b", "a\n",
                          "debug.atrace.app_0/../x", "\xc3\xa4"}) {
    EXPECT_FALSE(properties.Set(bad, "1")) << bad;
  }
  EXPECT_EQ(properties, PropertyValues());
  EXPECT_TRUE(properties.Set("ro.x-y_z@1:2", "1"));
}

TEST(PropertyValues, RefusesValuesThatDoNotFit) {
  PropertyValues properties;
  EXPECT_TRUE(properties.Set("a", std::string(91, 'x')));
  EXPECT_FALSE(properties.Set("a", std::string(92, 'x')));
  EXPECT_FALSE(properties.Set("a", std::string_view("1\0002", 3)));
  EXPECT_FALSE(properties.Set("a", "1\nb=2"));
  EXPECT_EQ(properties.Get("a"), std::string(91, 'x'));
}

TEST(PropertyValues, HoldTheLastValueOfAName) {
  PropertyValues properties;
  EXPECT_TRUE(properties.Set("b", "1"));
  EXPECT_TRUE(properties.Set("a", "2"));
  EXPECT_TRUE(properties.Set("b", "3"));
  EXPECT_EQ(properties.Get("a"), "2");
  EXPECT_EQ(properties.Get("b"), "3");
  EXPECT_EQ(properties.Get("c"), "");
  EXPECT_EQ(properties.Get(""), "");
  EXPECT_EQ(properties.Get("=3\na"), "");
}

}  // namespace
}  // namespace jankbox

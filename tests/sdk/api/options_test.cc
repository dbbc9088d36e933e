#include "sdk/api/options.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <cstddef>

#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;

class FrameOptionsTest : public ::testing::Test {
 protected:
  FrameOptionsTest() { options_.size = sizeof(options_); }
  ~FrameOptionsTest() override {
    unsetenv("JANKBOX_FRAME_POLICY");
    unsetenv("JANKBOX_FRAMES");
  }
  Options Checked() {
    const Result<Options> checked = ValidateOptions(&options_);
    EXPECT_TRUE(checked.ok()) << checked.status().message();
    return checked.ok() ? checked.value() : Options();
  }

  jankbox_options options_{};
};

TEST_F(FrameOptionsTest, PolicyIsBandsUnlessSaid) {
  EXPECT_EQ(Checked().frame_policy, FramePolicy::kBands);
  setenv("JANKBOX_FRAME_POLICY", "jankstats", 1);
  EXPECT_EQ(Checked().frame_policy, FramePolicy::kJankStats);
  setenv("JANKBOX_FRAME_POLICY", "deadline", 1);
  EXPECT_EQ(Checked().frame_policy, FramePolicy::kDeadline);
  options_.frame_policy = JANKBOX_FRAME_POLICY_BANDS;
  EXPECT_EQ(Checked().frame_policy, FramePolicy::kBands);
  options_.frame_policy = 77;
  EXPECT_THAT(ValidateOptions(&options_).status().message(), HasSubstr("frame_policy is 77"));
}

TEST_F(FrameOptionsTest, SourcesAreAllThatCostNothingUnlessSaid) {
  EXPECT_TRUE(Checked().frame_sources.gtk && Checked().frame_sources.sdl &&
              Checked().frame_sources.swap);
  EXPECT_FALSE(Checked().frame_sources.choreographer);
  setenv("JANKBOX_FRAMES", "gtk,choreographer", 1);
  EXPECT_TRUE(Checked().frame_sources.gtk && Checked().frame_sources.choreographer);
  EXPECT_FALSE(Checked().frame_sources.sdl || Checked().frame_sources.swap);
  setenv("JANKBOX_FRAMES", "off", 1);
  EXPECT_FALSE(Checked().frame_sources.gtk);
  options_.frame_sources = JANKBOX_FRAMES_SWAP;
  EXPECT_TRUE(Checked().frame_sources.swap);
  EXPECT_FALSE(Checked().frame_sources.gtk);
}

class AtraceOptions : public ::testing::Test {
 protected:
  AtraceOptions() { options_.size = sizeof(options_); }
  ~AtraceOptions() override {
    unsetenv("JANKBOX_ATRACE");
    unsetenv("JANKBOX_PROPERTIES");
  }
  std::optional<uint64_t> Tags() {
    const Result<Options> checked = ValidateOptions(&options_);
    EXPECT_TRUE(checked.ok()) << checked.status().message();
    return checked.ok() ? checked->atrace_tags : std::nullopt;
  }
  std::string Error() {
    const Result<Options> checked = ValidateOptions(&options_);
    EXPECT_EQ(checked.status().code(), StatusCode::kInvalidArgument);
    return checked.status().message();
  }

  jankbox_options options_{};
};

TEST_F(AtraceOptions, AreAutomaticUnlessSaid) {
  EXPECT_EQ(Tags(), kDefaultCaptureTags | kTagApp);
  options_.atrace = "";
  EXPECT_EQ(Tags(), kDefaultCaptureTags | kTagApp);
  options_.atrace = "off";
  EXPECT_EQ(Tags(), std::nullopt);
}

TEST_F(AtraceOptions, TheProgramsComeBeforeTheEnvironments) {
  setenv("JANKBOX_ATRACE", "view", 1);
  EXPECT_EQ(Tags(), kTagView);
  options_.atrace = "input 0x2";
  EXPECT_EQ(Tags(), kTagInput | kTagGraphics);
}

// A program that was built before there was the field.
TEST_F(AtraceOptions, AnOlderStructHasNone) {
  options_.atrace = reinterpret_cast<const char*>(1);
  options_.size = offsetof(jankbox_options, atrace);
  EXPECT_EQ(Tags(), kDefaultCaptureTags | kTagApp);
}

TEST_F(AtraceOptions, UnknownCategoriesAreNamed) {
  options_.atrace = "gfx,veiw";
  EXPECT_THAT(Error(), HasSubstr("\"veiw\""));
  options_.atrace = "gfx,../../view";
  EXPECT_THAT(Error(), HasSubstr("\"../../view\""));
}

TEST_F(AtraceOptions, ThePropertiesFileHasNoWayUp) {
  setenv("JANKBOX_PROPERTIES", "/etc/../tmp/x", 1);
  EXPECT_THAT(Error(), HasSubstr("/etc/../tmp/x"));
  setenv("JANKBOX_PROPERTIES", "x", 1);
  EXPECT_THAT(Error(), HasSubstr("absolute"));
  setenv("JANKBOX_PROPERTIES", "/tmp/x", 1);
  EXPECT_EQ(ValidateOptions(&options_)->properties_file, "/tmp/x");
}

}  // namespace
}  // namespace jankbox

#include "sdk/api/options.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <cstddef>

#include "base/clock.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

using ::testing::HasSubstr;

// Fields and environment of one start.
class OptionsTest : public ::testing::Test {
 protected:
  OptionsTest() { fields_.size = sizeof(fields_); }

  // Entries of JANKBOX_OPTIONS.
  void SetEnvironment(std::string_view text) {
    layers_ = OptionLayers();
    layers_.TakeEntries("JANKBOX_OPTIONS", text, &layers_.environment);
  }
  Options Checked() {
    Result<Options> checked = ValidateOptions(&fields_, layers_);
    EXPECT_TRUE(checked.ok()) << checked.status().message();
    return checked.ok() ? std::move(checked).value() : Options();
  }
  std::string Error() {
    const Result<Options> checked = ValidateOptions(&fields_, layers_);
    EXPECT_EQ(checked.status().code(), StatusCode::kInvalidArgument);
    return checked.status().message();
  }

  jankbox_options fields_{};
  OptionLayers layers_;
};

TEST_F(OptionsTest, NothingGivenIsTheDefaults) {
  const Options options = Checked();
  EXPECT_EQ(options.window_ns, 10 * kNsPerSecond);
  EXPECT_EQ(options.ring_bytes, 8u << 20);
  EXPECT_EQ(options.slow_message_ns, 700 * kNsPerMs);
  EXPECT_EQ(options.slow_method_ns, 700 * kNsPerMs);
  EXPECT_FALSE(options.slow_methods_of_all);
  EXPECT_EQ(options.min_free_bytes, 64u << 20);
  EXPECT_EQ(options.cpu_budget_permille, 10u);
  EXPECT_EQ(options.repeats.reports_a_day, 100u);
  EXPECT_EQ(options.fixed_mode, std::nullopt);
  EXPECT_EQ(options.markers, MarkerMode::kPassOn);
  EXPECT_EQ(options.atrace_tags, kDefaultCaptureTags | kTagApp);
  EXPECT_TRUE(options.sources.threads && options.sources.io && options.sources.locks);
  EXPECT_EQ(options.kernel.mode, FtraceMode::kAuto);
  EXPECT_FALSE(options.repeats.every_incident);
  EXPECT_EQ(options.frame_policy, FramePolicy::kBands);
  EXPECT_FALSE(options.frame_sources.choreographer);
  EXPECT_TRUE(options.frame_sources.gtk && options.frame_sources.sdl && options.frame_sources.swap);
  EXPECT_EQ(options.sampler_mode, StackSampler::Mode::kAuto);
  EXPECT_TRUE(options.loop_hooks);
  EXPECT_EQ(options.app_name, "sdk_test");
  EXPECT_EQ(options.upload_url, "");
}

TEST_F(OptionsTest, NoneIsNoLimit) {
  fields_.min_free_mib = fields_.cpu_budget_permille = fields_.reports_a_day = UINT32_MAX;
  fields_.slow_method_ms = UINT32_MAX;
  const Options options = Checked();
  EXPECT_EQ(options.min_free_bytes, 0u);
  EXPECT_EQ(options.cpu_budget_permille, 0u);
  EXPECT_EQ(options.repeats.reports_a_day, 0u);
  EXPECT_EQ(options.slow_method_ns, 0u);
}

// The environment overrode all of these once.
TEST_F(OptionsTest, AFieldWinsOverTheEnvironment) {
  SetEnvironment(
      "record=off,markers=off,ftrace=off,repeats=every,frame_policy=deadline,frame_sources=off,"
      "atrace=view,flags=no_loop_hooks");
  EXPECT_EQ(Checked().fixed_mode, RecordMode::kOff);
  EXPECT_EQ(Checked().markers, MarkerMode::kOff);
  EXPECT_EQ(Checked().kernel.mode, FtraceMode::kOff);
  EXPECT_TRUE(Checked().repeats.every_incident);
  EXPECT_EQ(Checked().frame_policy, FramePolicy::kDeadline);
  EXPECT_FALSE(Checked().frame_sources.gtk);
  EXPECT_EQ(Checked().atrace_tags, kTagView);
  EXPECT_FALSE(Checked().loop_hooks);
  fields_.record = JANKBOX_RECORD_GOVERNED;
  fields_.markers = JANKBOX_MARKERS_PASS_ON;
  fields_.ftrace = JANKBOX_FTRACE_AUTO;
  fields_.repeats = JANKBOX_REPEATS_EXEMPLARS;
  fields_.frame_policy = JANKBOX_FRAME_POLICY_BANDS;
  fields_.frame_sources = JANKBOX_FRAMES_SWAP;
  fields_.atrace = "input 0x2";
  fields_.flags = JANKBOX_FLAGS_NONE;
  const Options options = Checked();
  EXPECT_EQ(options.fixed_mode, std::nullopt);
  EXPECT_EQ(options.markers, MarkerMode::kPassOn);
  EXPECT_EQ(options.kernel.mode, FtraceMode::kAuto);
  EXPECT_FALSE(options.repeats.every_incident);
  EXPECT_EQ(options.frame_policy, FramePolicy::kBands);
  EXPECT_TRUE(options.frame_sources.swap);
  EXPECT_EQ(options.atrace_tags, kTagInput | kTagGraphics);
  EXPECT_TRUE(options.loop_hooks);
}

// Numbers of the words that programs of 0.1 were compiled with; zero is unset.
TEST_F(OptionsTest, OldNumbersOfWordsStillHold) {
  fields_.record = 1;
  fields_.markers = 1;
  fields_.ftrace = 1;
  fields_.repeats = 1;
  const Options options = Checked();
  EXPECT_EQ(options.fixed_mode, RecordMode::kExact);
  EXPECT_EQ(options.markers, MarkerMode::kKeep);
  EXPECT_EQ(options.kernel.mode, FtraceMode::kOff);
  EXPECT_TRUE(options.repeats.every_incident);
}

TEST_F(OptionsTest, AFieldOutOfItsRangeIsRefused) {
  fields_.frame_policy = 77;
  EXPECT_EQ(Error(), "frame_policy is 77: must be bands, jankstats or deadline");
  fields_.frame_policy = 0;
  fields_.window_ms = 99;
  EXPECT_EQ(Error(), "window_ms is 99: must be 100 to 600000");
}

TEST_F(OptionsTest, TheEnvironmentNeverRefusesAStart) {
  SetEnvironment("window_ms=99,wnidow_ms=100,atrace='gfx,veiw',properties_file=x,anr_ms=4000");
  EXPECT_EQ(Checked().window_ns, 10 * kNsPerSecond);
  EXPECT_EQ(Checked().anr_ns, 4 * kNsPerSecond);
  EXPECT_EQ(Checked().atrace_tags, kDefaultCaptureTags | kTagApp);
  EXPECT_EQ(Checked().properties_file, "");
  EXPECT_EQ(
      layers_.ignored,
      "an entry of JANKBOX_OPTIONS is ignored: window_ms is \"99\": must be 100 to 600000; "
      "an entry of JANKBOX_OPTIONS is ignored: \"wnidow_ms\" is not an option: did you mean "
      "window_ms?"
      "; an entry of JANKBOX_OPTIONS is ignored: atrace: \"veiw\" is not a category: must be off, "
      "auto, or names such as gfx,view,app; an entry of JANKBOX_OPTIONS is ignored: "
      "properties_file is x: must be an absolute path without \"..\"");
}

TEST_F(OptionsTest, FieldsThatContradictEachOtherAreRefused) {
  fields_.anr_ms = 100;
  EXPECT_EQ(Error(), "anr_ms is 100: must be at least slow_message_ms, 700");
  fields_.slow_message_ms = 50;
  fields_.anr_background_ms = 80;
  EXPECT_EQ(Error(), "anr_background_ms is 80: must be at least anr_ms, 100");
}

TEST_F(OptionsTest, AnAnrStaysTheSlowestWhateverTheEnvironmentSays) {
  fields_.anr_ms = 1000;
  SetEnvironment("slow_message_ms=3000");
  EXPECT_EQ(Checked().slow_message_ns, 3 * kNsPerSecond);
  EXPECT_EQ(Checked().lag_ns, 3 * kNsPerSecond);
  EXPECT_EQ(Checked().anr_ns, 3 * kNsPerSecond);
  SetEnvironment("slow_message_ms=20000");
  fields_.anr_ms = 0;
  EXPECT_EQ(Checked().anr_background_ns, 20 * kNsPerSecond);
}

TEST_F(OptionsTest, TheEnvironmentMayMakeFieldsFit) {
  fields_.anr_ms = 100;
  SetEnvironment("slow_message_ms=50");
  EXPECT_EQ(Checked().anr_ns, 100 * kNsPerMs);
}

// A program that was built before there was the field.
TEST_F(OptionsTest, AnOlderStructLeavesNewFieldsUnset) {
  fields_.atrace = reinterpret_cast<const char*>(1);
  fields_.size = offsetof(jankbox_options, atrace);
  EXPECT_EQ(Checked().atrace_tags, kDefaultCaptureTags | kTagApp);
  fields_.size = 1;
  EXPECT_EQ(Error(), "size is 1: must be sizeof(jankbox_options)");
}

TEST_F(OptionsTest, UnknownCategoriesAreNamed) {
  fields_.atrace = "gfx,veiw";
  EXPECT_THAT(Error(), HasSubstr("\"veiw\""));
  fields_.atrace = "gfx,../../view";
  EXPECT_THAT(Error(), HasSubstr("\"../../view\""));
  fields_.atrace = "off";
  EXPECT_EQ(Checked().atrace_tags, std::nullopt);
  fields_.atrace = "";
  EXPECT_EQ(Checked().atrace_tags, kDefaultCaptureTags | kTagApp);
}

TEST_F(OptionsTest, ThePropertiesFileHasNoWayUp) {
  fields_.properties_file = "/etc/../tmp/x";
  EXPECT_THAT(Error(), HasSubstr("/etc/../tmp/x"));
  fields_.properties_file = "x";
  EXPECT_THAT(Error(), HasSubstr("absolute"));
  fields_.properties_file = "/tmp/x";
  EXPECT_EQ(Checked().properties_file, "/tmp/x");
}

TEST_F(OptionsTest, TheFolderIsAbsolute) {
  fields_.dir = "reports";
  EXPECT_THAT(Checked().dir, ::testing::MatchesRegex("/.*/reports"));
  fields_.dir = nullptr;
  EXPECT_THAT(Checked().dir, ::testing::MatchesRegex("/.*jankbox.*"));
}

}  // namespace
}  // namespace jankbox

#include "tracer/atrace/atrace_categories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool IsKernel(std::string_view name) { return name == "sched" || name == "freq"; }

TEST(AtraceCategories, AreAndroidsInItsOrder) {
  std::vector<std::string_view> names;
  for (const AtraceCategory& category : AtraceCategories()) names.push_back(category.name);
  EXPECT_THAT(names, ElementsAre("gfx", "input", "view", "webview", "wm", "am", "sm", "audio",
                                 "video", "camera", "hal", "res", "dalvik", "rs", "bionic", "power",
                                 "pm", "ss", "database", "network", "adb", "vibrator", "aidl",
                                 "nnapi", "rro", "core_services", "pdx"));
}

TEST(AtraceCategories, HaveOneTagEachAndTogetherAllButAppAndAlways) {
  uint64_t all = 0;
  for (const AtraceCategory& category : AtraceCategories()) {
    EXPECT_LE(std::popcount(category.tags), 1) << category.name;
    EXPECT_EQ(all & category.tags, 0u) << category.name;
    all |= category.tags;
  }
  EXPECT_EQ(all, kValidTags & ~kTagApp & ~kTagAlways);
  EXPECT_EQ(FindAtraceCategory("pdx")->tags, 0u);
  EXPECT_EQ(FindAtraceCategory("sched"), nullptr);
}

TEST(AtraceSelection, OfTheDefaultCaptureIsItsNumber) {
  const AtraceSelection selection =
      SelectAtraceCategories("gfx input view wm am sched freq audio dalvik hal", IsKernel);
  EXPECT_EQ(selection.tags, kDefaultCaptureTags);
  EXPECT_EQ(SelectAtraceCategories("aidl,gfx,input,view,wm,am,audio,dalvik,hal", IsKernel).tags,
            0x100496eu);
  EXPECT_THAT(selection.kernel, ElementsAre("sched", "freq"));
  EXPECT_THAT(selection.unknown, IsEmpty());
}

TEST(AtraceSelection, TakesNumbersAndNamesTogether) {
  EXPECT_EQ(SelectAtraceCategories("0x496e app", IsKernel).tags, 0x596eu);
  EXPECT_EQ(SelectAtraceCategories("  ,view,, rro\n", IsKernel).tags, kTagView | kTagRro);
  EXPECT_EQ(SelectAtraceCategories("", IsKernel).tags, 0u);
}

TEST(AtraceSelection, KeepsUnknownNamesAsTheyWereWritten) {
  const AtraceSelection selection =
      SelectAtraceCategories("gfx ../view GFX sched 0x8000000 0xffffffffffffffff", nullptr);
  EXPECT_EQ(selection.tags, kTagGraphics);
  EXPECT_THAT(selection.kernel, IsEmpty());
  EXPECT_THAT(selection.unknown,
              ElementsAre("../view", "GFX", "sched", "0x8000000", "0xffffffffffffffff"));
}

TEST(AtraceTagNames, AreTheCategories) {
  EXPECT_EQ(AtraceTagNames(kDefaultCaptureTags | kTagAlways | kTagApp),
            "always gfx input view wm am audio hal app dalvik");
  EXPECT_EQ(AtraceTagNames(0), "");
  EXPECT_EQ(AtraceTagNames(kTagNotReady | 1u << 27), "bit27 not_ready");
}

TEST(AtraceTagNames, ComeBackAsTheSameTags) {
  for (uint64_t tags = kTagGraphics; tags <= kTagRro; tags <<= 1) {
    EXPECT_EQ(SelectAtraceCategories(AtraceTagNames(tags), nullptr).tags, tags);
  }
}

}  // namespace
}  // namespace jankbox

// A session with an atrace library of the test's own (fixtures/fake_atrace.c): what it turns on,
// keeps on and gives back, and what it leaves to others.
#include "sdk/runtime/atrace_session.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "tests/uploader/temporary_folder.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

constexpr uint64_t kForeign = kTagPower;  // that somebody else has on

class AtraceSessionTest : public testing::Test {
 protected:
  AtraceSessionTest() {
    void* library = dlopen(JANKBOX_TEST_ATRACE_LIBRARY, RTLD_NOW);
    EXPECT_NE(library, nullptr) << dlerror();
    tags_ = static_cast<uint64_t*>(dlsym(library, "atrace_enabled_tags"));
    marker_fd_ = static_cast<int*>(dlsym(library, "atrace_marker_fd"));
    *tags_ = kForeign;
    *marker_fd_ = 3;
    options_.markers = MarkerMode::kPassOn;
    options_.atrace_tags = kTagView | kTagInput;
    options_.atrace_library = JANKBOX_TEST_ATRACE_LIBRARY;
    options_.properties_file = folder_ / "properties";  // which is not there
  }
  void SetProperties(const std::string& text) {
    std::ofstream(options_.properties_file, std::ios::trunc) << text;
  }

  TemporaryFolder folder_;
  Options options_;
  uint64_t* tags_ = nullptr;
  int* marker_fd_ = nullptr;
};

TEST_F(AtraceSessionTest, TagsAreAddedToThoseThatAreOn) {
  AtraceSession session(options_);
  EXPECT_EQ(*tags_, kForeign) << "nothing before the library is looked for";
  session.FollowModules();
  EXPECT_EQ(*tags_, kForeign | kTagView | kTagInput | kTagAlways);
  const ReportAtrace state = session.state();
  EXPECT_EQ(state.state, "on");
  EXPECT_EQ(state.tags, *tags_);
  EXPECT_EQ(state.added_tags, kTagView | kTagInput | kTagAlways);
  EXPECT_NE(state.categories.find("view"), std::string::npos);
  EXPECT_NE(state.library.find("fake_atrace"), std::string::npos);
  EXPECT_EQ(state.library.find('/'), std::string::npos) << "a path may name a user";
}

TEST_F(AtraceSessionTest, StopGivesBackWhatWasAddedAndNothingElse) {
  AtraceSession session(options_);
  session.FollowModules();
  *tags_ |= kTagAudio;  // another tool, meanwhile
  session.Stop();
  EXPECT_EQ(*tags_, kForeign | kTagAudio);
}

TEST_F(AtraceSessionTest, EndOfTheSessionIsAStop) {
  {
    AtraceSession session(options_);
    session.FollowModules();
  }
  EXPECT_EQ(*tags_, kForeign);
}

TEST_F(AtraceSessionTest, AfterTheStopNothingIsTurnedOn) {
  AtraceSession session(options_);
  session.FollowModules();
  session.Stop();
  SetProperties("debug.atrace.tags.enableflags=0x2000\n");
  session.Look(MonotonicNs());
  EXPECT_EQ(*tags_, kForeign);
}

TEST_F(AtraceSessionTest, StopBeforeTheLibraryIsFoundHoldsToo) {
  AtraceSession session(options_);
  session.Stop();
  session.FollowModules();
  EXPECT_EQ(*tags_, kForeign);
  EXPECT_EQ(session.state().state, "");
}

TEST_F(AtraceSessionTest, WithoutMarkersTheLibraryIsLeftAlone) {
  options_.markers = MarkerMode::kOff;
  AtraceSession session(options_);
  session.FollowModules();
  session.Look(MonotonicNs());
  EXPECT_EQ(*tags_, kForeign);
  EXPECT_EQ(session.state().state, "");
}

TEST_F(AtraceSessionTest, WithoutTagsItIsLeftAloneToo) {
  options_.atrace_tags.reset();
  AtraceSession session(options_);
  session.FollowModules();
  EXPECT_EQ(*tags_, kForeign);
}

TEST_F(AtraceSessionTest, LibraryWithoutItsMarkerFileIsSaidToBeSo) {
  *marker_fd_ = -1;
  AtraceSession session(options_);
  session.FollowModules();
  EXPECT_EQ(session.state().state, "on without marker file");
  *marker_fd_ = 3;
  session.Look(MonotonicNs());
  EXPECT_EQ(session.state().state, "on");
}

TEST_F(AtraceSessionTest, ToolThatHasAllTagsOnKeepsThem) {
  *tags_ = UINT64_MAX;
  AtraceSession session(options_);
  session.FollowModules();
  EXPECT_EQ(session.state().state, "in use by another tool");
  session.Stop();
  EXPECT_EQ(*tags_, UINT64_MAX);
}

TEST_F(AtraceSessionTest, TagsComeWhenTheOtherToolIsGone) {
  *tags_ = UINT64_MAX;
  AtraceSession session(options_);
  session.FollowModules();
  *tags_ = 0;
  session.Look(MonotonicNs());
  EXPECT_EQ(*tags_, kTagView | kTagInput | kTagAlways);
  EXPECT_EQ(session.state().state, "on");
}

TEST_F(AtraceSessionTest, LibraryThatIsNotReadyIsWaitedFor) {
  *tags_ = kTagNotReady;
  AtraceSession session(options_);
  session.FollowModules();
  EXPECT_EQ(*tags_, kTagNotReady);
  EXPECT_EQ(session.state().state, "not ready");
  *tags_ = 0;
  session.Look(MonotonicNs());
  EXPECT_NE(*tags_ & kTagView, 0u);
}

TEST_F(AtraceSessionTest, PropertiesAddTagsWhileItRuns) {
  AtraceSession session(options_);
  session.FollowModules();
  EXPECT_EQ(*tags_ & kTagResources, 0u);
  SetProperties("debug.atrace.tags.enableflags=0x2000\n");
  session.Look(MonotonicNs());
  EXPECT_NE(*tags_ & kTagResources, 0u);
  EXPECT_NE(*tags_ & kTagView, 0u) << "those that were asked for stay";
  SetProperties("\n");
  session.Look(MonotonicNs());
  EXPECT_EQ(*tags_ & kTagResources, 0u);
  EXPECT_NE(*tags_ & kTagView, 0u);
}

TEST_F(AtraceSessionTest, PropertiesThatCannotBeReadChangeNothing) {
  AtraceSession session(options_);
  session.FollowModules();
  const uint64_t before = *tags_;
  std::filesystem::create_directory(options_.properties_file);  // no file
  session.Look(MonotonicNs());
  EXPECT_EQ(*tags_, before);
}

TEST_F(AtraceSessionTest, LibraryIsFoundOnce) {
  AtraceSession session(options_);
  session.FollowModules();
  *tags_ &= ~kTagView;  // another owner took it out
  session.FollowModules();
  EXPECT_EQ(*tags_ & kTagView, 0u) << "which is not fought over";
}

}  // namespace
}  // namespace jankbox

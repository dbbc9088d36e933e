// Against AOSP's libcutils as Debian builds it (package android-libcutils), loaded as an app has
// it: its markers are empty functions there, its variables are real.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "tracer/atrace/atrace_control.h"
#include "tracer/atrace/atrace_symbols.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

// What the library's inline functions look at before each marker.
uint64_t* LibraryTags(void* library) {
  return static_cast<uint64_t*>(dlsym(library, "atrace_enabled_tags"));
}

class DebianLibcutils : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(JANKBOX_TEST_LIBCUTILS, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    tags_ = LibraryTags(library_);
    ASSERT_NE(tags_, nullptr);
    *tags_ = 0;
  }
  void TearDown() override {
    if (library_ != nullptr) dlclose(library_);
  }

  AtraceSymbols Find() {
    const Result<AtraceSymbols> symbols = AtraceSearch().Find("");
    EXPECT_TRUE(symbols.ok()) << symbols.status().message();
    return symbols.ok() ? symbols.value() : AtraceSymbols();
  }

  void* library_ = nullptr;
  uint64_t* tags_ = nullptr;
};

// It is in no global scope here, as in a program that loads its plug-ins.
TEST_F(DebianLibcutils, ItsVariablesAreFoundWhereverItIs) {
  ASSERT_EQ(dlsym(RTLD_DEFAULT, "atrace_enabled_tags"), nullptr);
  const AtraceSymbols symbols = Find();
  EXPECT_EQ(symbols.enabled_tags, tags_);
  EXPECT_EQ(symbols.marker_fd, dlsym(library_, "atrace_marker_fd"));
  EXPECT_EQ(reinterpret_cast<void*>(symbols.setup), dlsym(library_, "atrace_setup"));
  EXPECT_EQ(reinterpret_cast<void*>(symbols.refresh), dlsym(library_, "atrace_init"));
  EXPECT_NE(symbols.library.find("/libcutils.so.0"), std::string::npos) << symbols.library;
}

TEST_F(DebianLibcutils, TagsAreSetAndRestoredToTheBit) {
  const AtraceSymbols symbols = Find();
  AtraceControl control(symbols);
  const uint64_t befores[] = {0, kTagAlways, 0x7ffffff, kTagView | 1ull << 40, kTagApp | kTagRro};
  for (const uint64_t before : befores) {
    *tags_ = before;
    control.Start(kDefaultCaptureTags | kTagApp, 0);
    EXPECT_EQ(*tags_, before | 0x596e);
    control.Stop();
    EXPECT_EQ(*tags_, before);
    EXPECT_EQ(*symbols.marker_fd, -1);
  }
}

TEST_F(DebianLibcutils, DoubleStartAndStopAreAsOne) {
  AtraceControl control(Find());
  *tags_ = kTagCamera;
  EXPECT_GT(control.Start(kDefaultCaptureTags, 0), 0u);
  EXPECT_EQ(control.Start(kDefaultCaptureTags, 0), 0u);
  control.Stop();
  control.Stop();
  EXPECT_EQ(*tags_, kTagCamera);
}

TEST_F(DebianLibcutils, ASecondOwnersChangeInBetweenStays) {
  AtraceControl control(Find());
  *tags_ = kTagCamera;
  control.Start(kDefaultCaptureTags, 0);
  AtraceControl other(Find());  // as another tool would, its own tags on top
  other.Start(kTagNetwork | kTagView, 0);
  __atomic_fetch_and(tags_, ~kTagGraphics, __ATOMIC_RELAXED);
  control.Stop();
  EXPECT_EQ(*tags_, kTagCamera | kTagNetwork);
  other.Stop();
  EXPECT_EQ(*tags_, kTagCamera);
}

// The app's threads may write markers until the very end of the process.
TEST_F(DebianLibcutils, StaysLoadedOnceItWasFound) {
  const AtraceSymbols symbols = Find();
  dlclose(library_);
  library_ = nullptr;
  void* still = dlopen(JANKBOX_TEST_LIBCUTILS, RTLD_NOLOAD | RTLD_LAZY);
  ASSERT_NE(still, nullptr);
  EXPECT_EQ(LibraryTags(still), symbols.enabled_tags);
  dlclose(still);
}

TEST_F(DebianLibcutils, IsLoadedWhereAnOptionSaysSo) {
  const Result<AtraceSymbols> symbols = AtraceSearch().Find(JANKBOX_TEST_LIBCUTILS);
  ASSERT_TRUE(symbols.ok());
  EXPECT_EQ(symbols->enabled_tags, tags_);
}

}  // namespace
}  // namespace jankbox

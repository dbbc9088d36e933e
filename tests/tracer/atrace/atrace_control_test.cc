#include "tracer/atrace/atrace_control.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"
#include "tracer/atrace/atrace_tags.h"

namespace jankbox {
namespace {

constexpr uint64_t kWanted = kDefaultCaptureTags | kTagAlways;

// The library's two variables, here.
class AtraceControlTest : public ::testing::Test {
 protected:
  AtraceControlTest() { symbols_.enabled_tags = &tags_, symbols_.marker_fd = &marker_fd_; }

  uint64_t tags_ = 0;
  int marker_fd_ = STDERR_FILENO;
  AtraceSymbols symbols_;
};

TEST_F(AtraceControlTest, AddsTagsAndTakesThemOutAgain) {
  tags_ = kTagCamera | kTagView;
  AtraceControl control(symbols_);
  EXPECT_GT(control.Start(kWanted, 0), 0u);
  EXPECT_EQ(tags_, kTagCamera | kWanted);
  EXPECT_EQ(control.added(), kWanted & ~kTagView);
  control.Stop();
  EXPECT_EQ(tags_, kTagCamera | kTagView);
}

TEST_F(AtraceControlTest, StartingAndStoppingTwiceIsAsOnce) {
  tags_ = kTagView;
  AtraceControl control(symbols_);
  control.Stop();
  EXPECT_EQ(tags_, kTagView);
  EXPECT_GT(control.Start(kWanted, 0), 0u);
  EXPECT_EQ(control.Start(kTagCamera, 0), 0u);
  EXPECT_EQ(tags_, kWanted);
  control.Stop();
  EXPECT_EQ(tags_, kTagView);
  tags_ |= kTagGraphics;
  control.Stop();
  EXPECT_EQ(tags_, kTagView | kTagGraphics);
  EXPECT_GT(control.Start(kTagInput, 0), 0u);
  EXPECT_EQ(tags_, kTagView | kTagGraphics | kTagInput);
  control.Stop();
  EXPECT_EQ(tags_, kTagView | kTagGraphics);
}

TEST_F(AtraceControlTest, WhatAnotherOwnerSetsInBetweenStays) {
  AtraceControl control(symbols_);
  control.Start(kWanted, 0);
  tags_ |= kTagNetwork | kTagDatabase;
  control.Look(MonotonicNs());
  tags_ |= 1ull << 40;
  control.Stop();
  EXPECT_EQ(tags_, kTagNetwork | kTagDatabase | 1ull << 40);
}

TEST_F(AtraceControlTest, WhatAnotherOwnerClearsInBetweenStaysCleared) {
  tags_ = kTagCamera;
  AtraceControl control(symbols_);
  control.Start(kWanted, 0);
  tags_ &= ~(kTagCamera | kTagView);
  control.Look(MonotonicNs());
  EXPECT_EQ(tags_, kWanted & ~kTagView);
  control.Stop();
  EXPECT_EQ(tags_, 0u);
}

TEST_F(AtraceControlTest, ABitThatAnotherOwnerTookOverIsTheirs) {
  AtraceControl control(symbols_);
  control.Start(kWanted, 0);
  tags_ &= ~kTagView;
  control.Look(MonotonicNs());
  tags_ |= kTagView;
  control.Stop();
  EXPECT_EQ(tags_, kTagView);
}

TEST_F(AtraceControlTest, AllClearedByAnotherOwnerIsNotFoughtOver) {
  AtraceControl control(symbols_);
  control.Start(kWanted, 0);
  tags_ = 0;
  for (int i = 0; i < 3; ++i) control.Look(MonotonicNs());
  EXPECT_EQ(tags_, 0u);
  EXPECT_EQ(control.added(), 0u);
}

TEST_F(AtraceControlTest, AToolThatRecordsEverythingKeepsItsTags) {
  AtraceControl control(symbols_);
  control.Start(kWanted, 0);
  tags_ = UINT64_MAX;
  control.Look(MonotonicNs());
  control.Stop();
  EXPECT_EQ(tags_, UINT64_MAX);
}

TEST_F(AtraceControlTest, AfterAToolThatRecordedEverythingTheTagsAreAdded) {
  tags_ = UINT64_MAX;
  AtraceControl control(symbols_);
  control.Start(kWanted, 0);
  EXPECT_EQ(tags_, UINT64_MAX);
  EXPECT_EQ(control.added(), 0u);
  tags_ = kTagCamera;
  control.Look(MonotonicNs());
  EXPECT_EQ(tags_, kTagCamera | kWanted);
  control.Stop();
  EXPECT_EQ(tags_, kTagCamera);
}

TEST_F(AtraceControlTest, ALibraryThatIsNotReadyIsWaitedFor) {
  tags_ = kTagNotReady;
  AtraceControl control(symbols_);
  control.Start(kWanted, 0);
  EXPECT_EQ(tags_, kTagNotReady);
  EXPECT_TRUE(control.not_ready());
  control.Look(MonotonicNs());
  EXPECT_EQ(tags_, kTagNotReady);
  tags_ = kTagAlways;
  control.Look(MonotonicNs());
  EXPECT_EQ(tags_, kWanted);
  control.Stop();
  EXPECT_EQ(tags_, kTagAlways);
}

TEST_F(AtraceControlTest, ALibraryThatNeverWasReadyIsLeftAsItWas) {
  tags_ = kTagNotReady;
  AtraceControl control(symbols_);
  control.Start(kWanted, 0);
  control.Stop();
  EXPECT_EQ(tags_, kTagNotReady);
}

TEST_F(AtraceControlTest, TagsBeyondTheLastAreNeverSet) {
  AtraceControl control(symbols_);
  control.Start(UINT64_MAX, 0);
  EXPECT_EQ(tags_, kValidTags);
}

TEST_F(AtraceControlTest, TheLibrarysOwnTagsAreNotTakenOut) {
  tags_ = kTagAlways | kTagView;  // as the properties say
  AtraceControl control(symbols_);
  control.Start(kWanted, kTagAlways | kTagView);
  // A system trace of other tags begins; the library follows.
  tags_ = kTagAlways | kTagGraphics | kTagCamera;
  control.Update(kWanted, tags_, MonotonicNs());
  EXPECT_EQ(tags_, kWanted | kTagCamera);
  control.Stop();
  EXPECT_EQ(tags_, kTagAlways | kTagGraphics | kTagCamera);
}

TEST_F(AtraceControlTest, WhatTheLibraryOverwritesAfterAChangeIsAddedAgain) {
  const uint64_t now_ns = MonotonicNs();
  tags_ = kTagAlways;
  AtraceControl control(symbols_);
  control.Start(kWanted, kTagAlways);
  control.Update(kWanted, kTagAlways | kTagView, now_ns);
  tags_ = kTagAlways | kTagView;  // late
  control.Look(now_ns + kNsPerSecond);
  EXPECT_EQ(tags_, kWanted);
  tags_ = kTagAlways | kTagView;  // too late to be the library
  control.Look(now_ns + 6 * kNsPerSecond);
  EXPECT_EQ(tags_, kTagAlways | kTagView);
  control.Stop();
  EXPECT_EQ(tags_, kTagAlways | kTagView);
}

TEST_F(AtraceControlTest, AnUpdateReplacesWhatIsWanted) {
  tags_ = kTagCamera;
  AtraceControl control(symbols_);
  control.Start(kTagView | kTagInput, 0);
  control.Update(kTagInput | kTagHal, 0, MonotonicNs());
  EXPECT_EQ(tags_, kTagCamera | kTagInput | kTagHal);
  EXPECT_EQ(control.added(), kTagInput | kTagHal);
  control.Stop();
  EXPECT_EQ(tags_, kTagCamera);
}

TEST_F(AtraceControlTest, ALibraryWithoutMarkerIsReportedAndKeepsItSo) {
  marker_fd_ = -1;
  AtraceControl control(symbols_);
  control.Start(kWanted, 0);
  EXPECT_FALSE(control.has_marker());
  EXPECT_EQ(tags_, kWanted);
  EXPECT_EQ(marker_fd_, -1);
  marker_fd_ = STDERR_FILENO;
  EXPECT_TRUE(control.has_marker());
}

uint64_t* g_setup_tags = nullptr;

TEST_F(AtraceControlTest, TheLibraryIsMadeReadyBeforeItsTagsAreTouched) {
  g_setup_tags = &tags_;
  tags_ = kTagNotReady;
  symbols_.setup = [] { *g_setup_tags = kTagAlways | kTagRro; };
  AtraceControl control(symbols_);
  control.Start(kWanted, kTagAlways | kTagRro);
  EXPECT_EQ(tags_, kWanted | kTagRro);
  control.Stop();
  EXPECT_EQ(tags_, kTagAlways | kTagRro);
}

// Another owner sets and clears its bits, atomically, as fast as it can.
TEST_F(AtraceControlTest, NoChangeOfAnotherThreadIsLost) {
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> lost{0};
  std::thread other([&] {
    while (!stop.load()) {
      __atomic_fetch_or(&tags_, kTagNetwork, __ATOMIC_RELAXED);
      if ((__atomic_load_n(&tags_, __ATOMIC_RELAXED) & kTagNetwork) == 0) ++lost;
      __atomic_fetch_and(&tags_, ~kTagNetwork, __ATOMIC_RELAXED);
      if ((__atomic_load_n(&tags_, __ATOMIC_RELAXED) & kTagNetwork) != 0) ++lost;
    }
  });
  AtraceControl control(symbols_);
  for (int i = 0; i < 100'000; ++i) {
    control.Start(kWanted, 0);
    control.Stop();
  }
  stop = true;
  other.join();
  EXPECT_EQ(lost.load(), 0u);
  EXPECT_EQ(tags_ & ~kTagNetwork, 0u);
}

}  // namespace
}  // namespace jankbox

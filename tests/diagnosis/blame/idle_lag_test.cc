#include "diagnosis/blame/idle_lag.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/own_thread.h"
#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/idle_callback.h"
#include "tests/fakes/fake_window.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {
namespace {

constexpr int32_t kUi = 7;
constexpr uint64_t kMs = kNsPerMs;

class IdleLagTest : public testing::Test {
 protected:
  IdleLagTest() {
    window_.threads.reserve(2);
    ui_.emplace(AddThread(&window_, kUi, "main"));
  }
  void Run(const std::string& name, uint64_t from_ms, uint64_t to_ms) {
    ui_->BeginDispatch(name, from_ms * kMs).EndDispatch(to_ms * kMs);
  }
  // "prefetch 20", or "" where none took so long.
  std::string Longest(uint64_t from_ms, uint64_t to_ms, uint64_t least_ms) {
    const IdleLag lag =
        LongestIdleCallback(window_, kUi, from_ms * kMs, to_ms * kMs, least_ms * kMs);
    return lag.wall_ticks == 0 ? "" : lag.what + " " + std::to_string(lag.wall_ticks / kMs);
  }

  RingWindow window_;
  std::optional<FakeThread> ui_;
};

TEST_F(IdleLagTest, LongestOfThoseThatTookTooLong) {
  ui_->BeginDispatch("not idle", 0);
  Run("idle: short", 40, 43);
  Run("idle: prefetch", 50, 70);
  Run("idle: layout", 70, 80);
  ui_->EndDispatch(100 * kMs);
  EXPECT_EQ(Longest(0, 100, 9), "prefetch 20");
  EXPECT_EQ(Longest(0, 100, 20), "prefetch 20");
  EXPECT_EQ(Longest(0, 100, 21), "");
}

TEST_F(IdleLagTest, OneThatStillRunsCountsToTheEnd) {
  ui_->BeginDispatch("idle: stuck", 10 * kMs);
  EXPECT_EQ(Longest(0, 25, 10), "stuck 15");
  EXPECT_EQ(Longest(0, 15, 10), "");
}

TEST_F(IdleLagTest, OnlyItsPartOfTheIncidentCounts) {
  Run("idle: before", 10, 30);
  EXPECT_EQ(Longest(30, 100, 1), "");
  EXPECT_EQ(Longest(25, 100, 1), "before 5");
  EXPECT_EQ(Longest(0, 12, 1), "before 2");
}

TEST_F(IdleLagTest, OneThatContainsAMessageIsStillOne) {
  ui_->BeginDispatch("idle: dialog", 0).BeginDispatch("message in it", 5 * kMs);
  ui_->EndDispatch(50 * kMs).EndDispatch(60 * kMs);
  EXPECT_EQ(Longest(0, 100, 1), "dialog 60");
}

TEST_F(IdleLagTest, EqualOnesGoToTheLater) {
  Run("idle: first", 0, 10);
  Run("idle: second", 20, 30);
  EXPECT_EQ(Longest(0, 100, 1), "second 10");
}

TEST_F(IdleLagTest, OfAGapNothingIsKnown) {
  ui_->BeginDispatch("idle: lost its end", 0);
  ui_->NewChunk(100 * kMs, true);
  Run("idle: after", 110, 115);
  EXPECT_EQ(Longest(0, 200, 1), "after 5");
}

TEST_F(IdleLagTest, OtherThreadsAreIdleWhenTheyLike) {
  AddThread(&window_, 8, "other").BeginDispatch("idle: other", 0).EndDispatch(90 * kMs);
  EXPECT_EQ(Longest(0, 100, 1), "");
}

TEST_F(IdleLagTest, NameThatIsNothingButThePrefixIsEmpty) {
  Run("idle: ", 0, 10);
  EXPECT_EQ(Longest(0, 100, 1), " 10");
}

// What the recording side writes is what is found.
class RecordedIdleTest : public testing::Test {
 protected:
  void SetUp() override {
    RingOptions options;  // in memory
    options.bytes = 1 << 20;
    options.tick_source = TickSource::kClockGettime;
    Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
    ASSERT_TRUE(ring.ok());
    static auto* rings = new std::vector<std::unique_ptr<RingFile>>();
    rings->push_back(std::move(ring.value()));
    ring_ = rings->back().get();
    ASSERT_TRUE(Recorder::Open(ring_).ok());
  }
  void TearDown() override { Recorder::Close(); }
  IdleLag Longest() {
    const RingWindow window = RingReader(ring_->base(), ring_->bytes()).CopyWindow(0, UINT64_MAX);
    return LongestIdleCallback(window, CurrentTid(), 0, MonotonicNs() + 1, 1);
  }

  RingFile* ring_ = nullptr;
};

TEST_F(RecordedIdleTest, NamesAreCut) {
  BeginIdleCallback(std::string(200, 'x').c_str());
  DispatchMonitor::End();
  EXPECT_EQ(Longest().what, std::string(50, 'x'));
}

TEST_F(RecordedIdleTest, NullIsAnEmptyName) {
  BeginIdleCallback(nullptr);
  DispatchMonitor::End();
  const IdleLag lag = Longest();
  EXPECT_EQ(lag.what, "");
  EXPECT_NE(lag.wall_ticks, 0u);
}

// A modal dialog that an idle callback runs: while its loop waits nothing is dispatched.
TEST_F(RecordedIdleTest, LoopThatItRunsEndsAllThatIsOpen) {
  DispatchMonitor::Begin(nullptr);
  BeginIdleCallback("dialog");
  const RingWatchedThread& slot = WatchedSlot::OfThisThread(ring_->header()).thread();
  EXPECT_EQ(slot.dispatch_depth, 2u);
  const uint64_t count = DispatchMonitor::CountOfThisThread();
  DispatchMonitor::EndAll();
  EXPECT_EQ(slot.dispatch_depth, 0u);
  EXPECT_EQ(slot.dispatch_begin_ticks, 0u);
  DispatchMonitor::Begin(nullptr);
  EXPECT_NE(DispatchMonitor::CountOfThisThread(), count);
  DispatchMonitor::EndAll();
  DispatchMonitor::EndAll();
  EXPECT_EQ(slot.dispatch_depth, 0u);
}

}  // namespace
}  // namespace jankbox

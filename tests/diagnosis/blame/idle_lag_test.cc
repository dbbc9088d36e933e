#include "diagnosis/blame/idle_lag.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/own_thread.h"
#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/idle_callback.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {
namespace {

// Idle callbacks as a thread records them; ticks are ns.
class IdleLagTest : public testing::Test {
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
    from_ = MonotonicNs();
  }
  void TearDown() override { Recorder::Close(); }

  static void Run(const char* idle, useconds_t us) {
    BeginIdleCallback(idle);
    usleep(us);
    DispatchMonitor::End();
  }
  IdleLag Longest(uint64_t least_ns, uint64_t to = UINT64_MAX) {
    const RingWindow window = RingReader(ring_->base(), ring_->bytes()).CopyWindow(0, UINT64_MAX);
    return LongestIdleCallback(window, CurrentTid(), from_, std::min(to, MonotonicNs()), least_ns);
  }

  RingFile* ring_ = nullptr;
  uint64_t from_ = 0;
};

TEST_F(IdleLagTest, LongestOfThoseThatTookTooLong) {
  DispatchMonitor::Begin("not idle");
  usleep(40'000);
  Run("short", 3'000);
  Run("prefetch", 20'000);
  Run("layout", 10'000);
  DispatchMonitor::End();
  const IdleLag lag = Longest(9 * kNsPerMs);
  EXPECT_EQ(lag.what, "prefetch");
  EXPECT_GE(lag.wall_ticks, 20 * kNsPerMs);
  EXPECT_EQ(Longest(3600 * kNsPerSecond).wall_ticks, 0u);
}

TEST_F(IdleLagTest, OneThatStillRunsCountsToTheEnd) {
  BeginIdleCallback("stuck");
  usleep(15'000);
  const IdleLag lag = Longest(10 * kNsPerMs);
  EXPECT_EQ(lag.what, "stuck");
  EXPECT_GE(lag.wall_ticks, 15 * kNsPerMs);
  DispatchMonitor::End();
}

TEST_F(IdleLagTest, OneBeforeTheIncidentIsNotPartOfIt) {
  Run("before", 15'000);
  from_ = MonotonicNs();
  EXPECT_EQ(Longest(10 * kNsPerMs).wall_ticks, 0u);
}

TEST_F(IdleLagTest, NamesAreCutAndNullIsEmpty) {
  Run(std::string(200, 'x').c_str(), 2'000);
  EXPECT_EQ(Longest(1 * kNsPerMs).what, std::string(50, 'x'));
  from_ = MonotonicNs();
  Run(nullptr, 2'000);
  const IdleLag lag = Longest(1 * kNsPerMs);
  EXPECT_EQ(lag.what, "");
  EXPECT_NE(lag.wall_ticks, 0u);
}

// A modal dialog that an idle callback runs: while its loop waits nothing is dispatched.
TEST_F(IdleLagTest, LoopThatItRunsEndsAllThatIsOpen) {
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

#include "monitors/looper/dispatch_monitor.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "base/own_thread.h"
#include "monitors/incident/watched_thread_view.h"
#include "monitors/looper/loop_dispatches.h"
#include "tracer/ring/recorder.h"
#include "tracer/ring/ring_reader.h"

namespace jankbox {
namespace {

class DispatchMonitorTest : public testing::Test {
 protected:
  void SetUp() override {
    RingOptions options;  // in memory
    options.bytes = 1 << 20;
    Result<std::unique_ptr<RingFile>> ring = RingFile::Create(options);
    ASSERT_TRUE(ring.ok());
    static auto* rings =
        new std::vector<std::unique_ptr<RingFile>>();  // stay mapped, as in the runtime
    rings->push_back(std::move(ring.value()));
    ring_ = rings->back().get();
    ASSERT_TRUE(Recorder::Open(ring_).ok());
    WatchedSlot::SetClock(1.0, 20 * kNsPerMs);
    clock_ = TickConverter(ring_->header()->clock_at_start, ring_->header()->clock_at_start, 1.0);
  }
  void TearDown() override { Recorder::Close(); }
  WatchedSlot Slot() { return WatchedSlot::OfThisThread(ring_->header()); }

  RingFile* ring_ = nullptr;
  TickConverter clock_;
};

TEST_F(DispatchMonitorTest, ViewSeesWhatRunsAndSinceWhen) {
  const uint64_t before = MonotonicNs();
  DispatchMonitor::Begin("message 7");
  WatchedThreadView view(&Slot().thread());
  EXPECT_EQ(view.tid(), CurrentTid());
  std::optional<RunningDispatch> running = view.ReadRunning(clock_);
  ASSERT_TRUE(running);
  EXPECT_EQ(running->what, "message 7");
  EXPECT_GE(running->begin_ns + 1000, before);
  EXPECT_LE(running->begin_ns, MonotonicNs());
  DispatchMonitor::End();
  EXPECT_FALSE(view.ReadRunning(clock_));
}

TEST_F(DispatchMonitorTest, OnlySlowDispatchesAreNotedAndOnce) {
  WatchedThreadView view(&Slot().thread());
  DispatchMonitor::Begin("quick");
  DispatchMonitor::End();
  EXPECT_FALSE(view.TakeSlow(clock_));
  DispatchMonitor::Begin("slow");
  usleep(25000);
  DispatchMonitor::End();
  std::optional<SlowDispatch> slow = view.TakeSlow(clock_);
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->what, "slow");
  EXPECT_GE(slow->end_ns - slow->begin_ns, 25 * kNsPerMs);
  EXPECT_FALSE(view.TakeSlow(clock_));
}

TEST_F(DispatchMonitorTest, OutermostDispatchCounts) {
  DispatchMonitor::Begin("outer");
  DispatchMonitor::Begin("inner");
  WatchedThreadView view(&Slot().thread());
  EXPECT_EQ(view.ReadRunning(clock_)->what, "outer");
  DispatchMonitor::End();
  EXPECT_TRUE(view.ReadRunning(clock_));
  DispatchMonitor::End();
  EXPECT_FALSE(view.ReadRunning(clock_));
  DispatchMonitor::End();  // one too many is harmless
  EXPECT_EQ(Slot().dispatch_depth(), 0u);
}

TEST_F(DispatchMonitorTest, UnnamedOuterDispatchTakesTheNameOfTheFirstInside) {
  DispatchMonitor::Begin(nullptr);
  DispatchMonitor::Begin("first inside");
  DispatchMonitor::End();
  DispatchMonitor::Begin("second inside");
  WatchedThreadView view(&Slot().thread());
  EXPECT_EQ(view.ReadRunning(clock_)->what, "first inside");
  DispatchMonitor::End();
  DispatchMonitor::End();
}

TEST_F(DispatchMonitorTest, LongNamesAreCutAndNullIsEmpty) {
  DispatchMonitor::Begin(std::string(200, 'x').c_str());
  WatchedThreadView view(&Slot().thread());
  EXPECT_EQ(view.ReadRunning(clock_)->what, std::string(kMaxDispatchNameBytes, 'x'));
  DispatchMonitor::End();
  DispatchMonitor::Begin(nullptr);
  EXPECT_EQ(view.ReadRunning(clock_)->what, "");
  DispatchMonitor::End();
  const RingWindow window = RingReader(ring_->base(), ring_->bytes()).CopyWindow(0, UINT64_MAX);
  EventCursor cursor(window.threads.at(0).chunks.at(0));
  EventRecord record;
  ASSERT_TRUE(cursor.Next(&record));
  EXPECT_EQ(DispatchName(record), std::string(kMaxDispatchNameBytes, 'x'));
}

TEST_F(DispatchMonitorTest, DispatchThatBeganEarlierKeepsItsBegin) {
  const uint64_t begin = MonotonicNs() - 500 * kNsPerMs;
  DispatchMonitor::Begin("adopted", begin);
  WatchedThreadView view(&Slot().thread());
  EXPECT_NEAR(static_cast<double>(view.ReadRunning(clock_)->begin_ns), static_cast<double>(begin),
              1e6);
  DispatchMonitor::End();
  EXPECT_NEAR(static_cast<double>(view.TakeSlow(clock_)->begin_ns), static_cast<double>(begin),
              1e6);
}

TEST_F(DispatchMonitorTest, NinthThreadIsRecordedButNotWatched) {
  std::vector<std::thread> threads;
  std::atomic<int> watched{0}, ready{0};
  std::atomic<bool> leave{false};
  for (int i = 0; i < 9; ++i) {
    threads.emplace_back([&] {
      DispatchMonitor::Begin("x");
      if (Slot()) ++watched;
      ++ready;
      while (!leave) std::this_thread::yield();
      DispatchMonitor::End();
    });
  }
  while (ready < 9) std::this_thread::yield();
  leave = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(watched.load(), static_cast<int>(kMaxWatchedThreads));
}

TEST_F(DispatchMonitorTest, EachThreadsLoopHasItsOwnName) {
  DispatchMonitor::Begin("x");
  DispatchMonitor::End();
  const size_t mine = Slot().index();
  EXPECT_EQ(LoopNameOf(*ring_->header(), mine), "api");
  EXPECT_EQ(LoopNameOf(*ring_->header(), kMaxWatchedThreads), "api");
  DispatchMonitor::NameLoop("glib");
  EXPECT_EQ(LoopNameOf(*ring_->header(), mine), "glib");
  std::thread([&] {
    DispatchMonitor::NameLoop("libuv");
    const size_t theirs = Slot().index();
    EXPECT_EQ(LoopNameOf(*ring_->header(), theirs), "libuv");
    DispatchMonitor::NameLoopForGood("a name of 31 bytes and some more");
    DispatchMonitor::NameLoop("libuv");
    EXPECT_EQ(LoopNameOf(*ring_->header(), theirs), "a name of 31 bytes and some mor");
  }).join();
  EXPECT_EQ(LoopNameOf(*ring_->header(), mine), "glib");
}

// What a loop's waits look like to a recorder that comes late.
std::vector<std::string> g_calls;
const DispatchCalls kCalls = {[](const char*, uint64_t begin_ns) {
                                g_calls.push_back(begin_ns == 0 ? "begin now" : "begin earlier");
                              },
                              [] { g_calls.push_back("end"); },
                              [](const char* name) { g_calls.push_back(name); }};

TEST(LoopDispatches, RecorderThatComesLateHearsOfTheRunningDispatch) {
  g_calls.clear();
  LoopDispatches loop;
  WaitCall wait;
  int word = 0;
  wait.call_site = &word;
  std::vector<uintptr_t> stack(64);
  wait.stack = stack.data();
  wait.family = WaitFamily::kEpoll;
  wait.fd = 4;
  ASSERT_TRUE(loop.OnWait(wait, nullptr));
  loop.OnWaitDone(nullptr);
  ASSERT_TRUE(loop.OnWait(wait, &kCalls));
  loop.OnWaitDone(&kCalls);
  loop.Finish(&kCalls);
  loop.Finish(&kCalls);
  EXPECT_EQ(g_calls, (std::vector<std::string>{"epoll, unsure", "begin earlier", "end", "begin now",
                                               "end"}));
}

TEST(LoopDispatches, RecorderIsNotStartedWhereAStartUpOnlyLooksForMessages) {
  LoopDispatches loop;
  WaitCall glance;
  glance.returns_at_once = true;
  EXPECT_EQ(loop.NeedsRecorder(glance, /*own=*/true), __libc_single_threaded == 0);
  EXPECT_TRUE(loop.NeedsRecorder({}, /*own=*/true)) << "a wait";
  usleep(LoopDispatches::kQuickStartUpNs / 1000);
  EXPECT_TRUE(loop.NeedsRecorder(glance, /*own=*/true)) << "it looks again and again";
  EXPECT_FALSE(loop.NeedsRecorder({}, /*own=*/false)) << "it may still start up";
  usleep(LoopDispatches::kSlowStartUpNs / 1000);
  EXPECT_EQ(loop.NeedsRecorder({}, /*own=*/false), __libc_single_threaded != 0)
      << "what runs waits for something else";
  LoopDispatches other;
  EXPECT_FALSE(other.NeedsRecorder({}, /*own=*/false)) << "it has no loop so far";
}

// A program's own loop over `fd`, whose third wait makes it known.
struct OwnLoop {
  WaitCall Wait(int fd) {
    WaitCall wait;
    wait.call_site = &word;
    wait.stack = stack.data() + 64;
    wait.fd = fd;
    return wait;
  }
  int word = 0;
  std::vector<uintptr_t> stack = std::vector<uintptr_t>(128);
};

TEST(LoopDispatches, StartUpEndsAtTheFirstWaitOfTheLoopNotAtTheOneThatMakesItKnown) {
  g_calls.clear();
  LoopDispatches loop;
  OwnLoop own;
  loop.BeginStartUp(&kCalls);
  EXPECT_TRUE(loop.starts_up());
  EXPECT_FALSE(loop.OnWait(own.Wait(4), &kCalls));
  EXPECT_EQ(g_calls, (std::vector<std::string>{"begin now", "end"}));
  EXPECT_FALSE(loop.OnWait(own.Wait(4), &kCalls));
  EXPECT_TRUE(loop.OnWait(own.Wait(4), &kCalls));
  EXPECT_EQ(g_calls.size(), 2u) << "nothing ran between";
}

TEST(LoopDispatches, WaitOfAnUnsureLoopIsAGuess) {
  LoopDispatches loop;
  OwnLoop own;
  for (int i = 0; i < 3; ++i) {
    if (loop.OnWait(own.Wait(4), nullptr)) loop.OnWaitDone(nullptr);
  }
  EXPECT_TRUE(loop.guessed_waits().waited_ms().empty());
  int elsewhere = 0;
  WaitCall reply = own.Wait(5);
  reply.call_site = &elsewhere;
  reply.stack = own.stack.data();  // deeper
  ASSERT_TRUE(loop.OnWait(reply, nullptr));
  loop.OnWaitDone(nullptr);
  EXPECT_EQ(loop.guessed_waits().waited_ms().size(), 1u);
}

}  // namespace
}  // namespace jankbox

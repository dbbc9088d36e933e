#include "tracer/ftrace/ftrace_session.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/own_thread.h"
#include "tests/tracer/ftrace/tracefs_fixture.h"

namespace jankbox {
namespace {

class FtraceSessionTest : public testing::TracefsTest {
 protected:
  void Start(const FtraceSessionOptions& options = {.buffer_kib = 256}) {
    begin_ = ReadClocks(source_);
    Result<std::unique_ptr<FtraceSession>> started = FtraceSession::Start(options, source_);
    if (!started.ok()) GTEST_SKIP() << started.status().message();
    session_ = std::move(started).value();
  }

  // The window from `from_ticks` until now.
  KernelWindow Read(uint64_t from_ticks) {
    const ClockReading now = ReadClocks(source_);
    const TickConverter clock(begin_, now, 1.0);
    KernelWindow window = session_->Read(from_ticks, now.ticks, clock);
    EXPECT_EQ(window.source, KernelWindow::Source::kFtrace) << window.reason;
    return window;
  }

  static size_t Count(const KernelWindow& window, KernelEventKind kind) {
    return static_cast<size_t>(std::count_if(window.events.begin(), window.events.end(),
                                             [&](const auto& e) { return e.kind == kind; }));
  }

  const TickSource source_ = ChooseTickSource();
  ClockReading begin_;
  std::unique_ptr<FtraceSession> session_;
};

TEST_F(FtraceSessionTest, WindowsOverlapWithoutLosingEvents) {
  Start();
  if (IsSkipped()) return;
  const uint64_t from = ReadTicks(source_);
  for (int i = 0; i < 20; ++i) usleep(2'000);
  const KernelWindow first = Read(from);
  for (int i = 0; i < 20; ++i) usleep(2'000);
  const KernelWindow both = Read(from);
  const size_t switches = Count(first, KernelEventKind::kSwitch);
  // Two a nap, of which kernels leave out single ones (decision 8).
  EXPECT_GE(switches, 30u);
  EXPECT_GE(Count(both, KernelEventKind::kSwitch), switches + 30);
  EXPECT_EQ(both.lost_events, 0u);
  EXPECT_LT(both.clock_error_ns, 1'000'000u);
  for (size_t i = 0; i < first.events.size() && i < both.events.size(); ++i) {
    EXPECT_NEAR(static_cast<double>(first.events[i].time), static_cast<double>(both.events[i].time),
                100'000);
  }
  EXPECT_TRUE(std::is_sorted(both.events.begin(), both.events.end(),
                             [](const auto& a, const auto& b) { return a.time < b.time; }));
}

TEST_F(FtraceSessionTest, ThreadsOfTheProcessAreFollowedItsChildrenLeftOut) {
  Start();
  if (IsSkipped()) return;
  const uint64_t from = ReadTicks(source_);
  int32_t thread = 0;
  std::thread([&] {
    thread = CurrentTid();
    for (int i = 0; i < 5; ++i) usleep(2'000);
  }).join();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < 5; ++i) usleep(2'000);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const KernelWindow window = Read(from);
  EXPECT_THAT(window.own_threads, ::testing::Contains(thread));
  size_t of_thread = 0;
  for (const KernelEvent& event : window.events) {
    if (event.kind != KernelEventKind::kSwitch) continue;
    of_thread += event.sched.prev_pid == thread ? 1 : 0;
    // Like any other process it may have taken the CPU from a thread of ours, and given it back.
    if (event.sched.prev_pid == child) {
      EXPECT_THAT(window.own_threads, ::testing::Contains(event.sched.next_pid));
    }
    if (event.sched.next_pid == child) {
      EXPECT_THAT(window.own_threads, ::testing::Contains(event.sched.prev_pid));
    }
  }
  EXPECT_GE(of_thread, 3u);
}

TEST_F(FtraceSessionTest, OnlyFaultsOfWatchedThreadsAreCounted) {
  Start();
  if (IsSkipped()) return;
  const auto touch = [](size_t pages) {
    void* memory =
        mmap(nullptr, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, pages * 4096, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; ++i) static_cast<volatile char*>(memory)[i * 4096] = 1;
    munmap(memory, pages * 4096);
  };
  const uint64_t from = ReadTicks(source_);
  touch(300);
  std::thread([&] { touch(300); }).join();
  const KernelWindow window = Read(from);
  EXPECT_GE(Count(window, KernelEventKind::kPageFault),
            300u);  // sanitizers have pages of their own
  for (const KernelEvent& event : window.events) {
    if (event.kind == KernelEventKind::kPageFault) {
      EXPECT_EQ(event.tid, getpid());
    }
  }
}

TEST_F(FtraceSessionTest, OverwrittenPartOfTheWindowIsALoss) {
  Start({.buffer_kib = 64});
  if (IsSkipped()) return;
  const uint64_t from = ReadTicks(source_);
  for (int i = 0; i < 5'000; ++i) usleep(1);
  const KernelWindow window = Read(from);
  EXPECT_GT(window.lost_events, 1'000u);
  EXPECT_FALSE(window.lossy_cpus.empty());
  // Rolled over before the window began: no loss.
  for (int i = 0; i < 5'000; ++i) usleep(1);
  const uint64_t late = ReadTicks(source_);
  usleep(2'000);
  EXPECT_EQ(Read(late).lost_events, 0u);
}

TEST_F(FtraceSessionTest, ClocksAreReadToTheMicrosecond) {
  for (const char* trace_clock : {"boot", "mono", "local", "global", "x86-tsc"}) {
    Start({.buffer_kib = 64, .trace_clock = trace_clock});
    if (IsSkipped()) return;
    const uint64_t from = ReadTicks(source_);
    for (int i = 0; i < 3; ++i) {
      usleep(20'000);
      session_->Mark();
    }
    const KernelWindow window = Read(from);
    const uint64_t to = ReadTicks(source_);
    EXPECT_EQ(window.trace_clock, trace_clock);
    EXPECT_FALSE(window.events.empty());
    const TickConverter clock(begin_, ReadClocks(source_), 1.0);
    EXPECT_GE(window.events.front().time + 100'000, clock.ToBoottimeNs(from)) << trace_clock;
    EXPECT_LE(window.events.back().time, clock.ToBoottimeNs(to) + 100'000) << trace_clock;
    session_.reset();
  }
}

}  // namespace
}  // namespace jankbox

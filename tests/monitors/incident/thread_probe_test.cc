#include "monitors/incident/thread_probe.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/own_thread.h"

namespace jankbox {
namespace {

// Runs `body` on a thread and returns the first reading that `until` accepts (5 s at most).
template <typename Body, typename Until>
ThreadReading ReadWhile(Body body, Until until) {
  std::atomic<int> tid{0};
  std::atomic<bool> stop{false};
  std::thread thread([&] {
    tid = CurrentTid();
    body(stop);
  });
  while (tid == 0) std::this_thread::yield();
  const ThreadProbe probe(tid);
  ThreadReading reading;
  const uint64_t give_up = MonotonicNs() + 5 * kNsPerSecond;
  do {
    reading = probe.Read();
  } while (!until(reading) && MonotonicNs() < give_up);
  stop = true;
  thread.join();
  return reading;
}

TEST(ThreadProbe, BusyThreadRuns) {
  const ThreadReading reading = ReadWhile(
      [](std::atomic<bool>& stop) {
        while (!stop) {
        }
      },
      [](const ThreadReading& r) { return r.wait == WaitClass::kNone && r.run_ns > 5 * kNsPerMs; });
  EXPECT_EQ(reading.wait, WaitClass::kNone);
  EXPECT_TRUE(reading.sched_known);
  EXPECT_GT(reading.run_ns, 5 * kNsPerMs);
}

TEST(ThreadProbe, LockIsALock) {
  std::mutex mutex;
  std::unique_lock<std::mutex> held(mutex);
  std::atomic<int> tid{0};
  std::thread thread([&] {
    tid = CurrentTid();
    std::lock_guard<std::mutex> lock(mutex);
  });
  while (tid == 0) std::this_thread::yield();
  const ThreadProbe probe(tid);
  const uint64_t give_up = MonotonicNs() + 5 * kNsPerSecond;
  while (probe.Read().wait != WaitClass::kLock && MonotonicNs() < give_up)
    std::this_thread::yield();
  EXPECT_EQ(probe.Read().syscall, SYS_futex);
  EXPECT_EQ(probe.Read().wait, WaitClass::kLock);
  held.unlock();
  thread.join();
}

TEST(ThreadProbe, SleepIsSleep) {
  const ThreadReading reading = ReadWhile(
      [](std::atomic<bool>& stop) {
        while (!stop) usleep(50000);
      },
      [](const ThreadReading& r) { return r.wait == WaitClass::kSleeping; });
  EXPECT_EQ(reading.wait, WaitClass::kSleeping);
}

TEST(ThreadProbe, PollOnAPipeIsBlockedWithoutAReason) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const ThreadReading reading = ReadWhile(
      [&](std::atomic<bool>& stop) {
        pollfd wait = {fds[0], POLLIN, 0};
        while (!stop) poll(&wait, 1, 50);
      },
      [](const ThreadReading& r) { return r.wait == WaitClass::kBlocked && r.syscall >= 0; });
  EXPECT_EQ(reading.wait, WaitClass::kBlocked);
  close(fds[0]);
  close(fds[1]);
}

TEST(ThreadProbe, ThreadThatIsGoneIsUnknown) {
  std::atomic<int> tid{0};
  std::thread thread([&] { tid = CurrentTid(); });
  thread.join();
  const ThreadReading reading = ThreadProbe(tid).Read();
  EXPECT_FALSE(reading.sched_known);
  EXPECT_EQ(reading.wait, WaitClass::kUnknown);
}

TEST(ClassifyWait, ReadsOfFilesAreDiskAndOfPipesAreNot) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const int file = open("/proc/self/exe", O_RDONLY);
  EXPECT_EQ(ClassifyWait('S', SYS_read, static_cast<uint64_t>(fds[0])), WaitClass::kBlocked);
  EXPECT_EQ(ClassifyWait('S', SYS_read, static_cast<uint64_t>(file)), WaitClass::kDisk);
  EXPECT_EQ(ClassifyWait('D', SYS_read, static_cast<uint64_t>(fds[0])), WaitClass::kDisk);
  EXPECT_EQ(ClassifyWait('S', SYS_fsync, 0), WaitClass::kDisk);
  EXPECT_EQ(ClassifyWait('D', -1, 0), WaitClass::kDisk);
  EXPECT_EQ(ClassifyWait('S', -1, 0), WaitClass::kBlocked);
  close(file);
  close(fds[0]);
  close(fds[1]);
}

}  // namespace
}  // namespace jankbox

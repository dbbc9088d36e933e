#include "monitors/incident/thread_probe.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
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
      [](const ThreadReading& r) {
        return r.wait == WaitReason::kNone && r.run_ns > 5 * kNsPerMs;
      });
  EXPECT_EQ(reading.wait, WaitReason::kNone);
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
  while (probe.Read().wait != WaitReason::kLock && MonotonicNs() < give_up)
    std::this_thread::yield();
  EXPECT_EQ(probe.Read().syscall, SYS_futex);
  EXPECT_EQ(probe.Read().wait, WaitReason::kLock);
  held.unlock();
  thread.join();
}

// As g_cond_wait(), QSemaphore and others do.
TEST(ThreadProbe, FutexOfALibraryIsNotKnownToBeALock) {
  std::atomic<uint32_t> word{0};
  std::atomic<int> tid{0};
  std::thread thread([&] {
    tid = CurrentTid();
    while (word == 0) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  });
  while (tid == 0) std::this_thread::yield();
  const ThreadProbe probe(tid);
  const uint64_t give_up = MonotonicNs() + 5 * kNsPerSecond;
  while (probe.Read().syscall != SYS_futex && MonotonicNs() < give_up) std::this_thread::yield();
  EXPECT_EQ(probe.Read().wait, WaitReason::kThread);
  word = 1;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  thread.join();
}

TEST(ThreadProbe, SleepIsSleep) {
  const ThreadReading reading = ReadWhile(
      [](std::atomic<bool>& stop) {
        while (!stop) usleep(50000);
      },
      [](const ThreadReading& r) { return r.wait == WaitReason::kSleeping; });
  EXPECT_EQ(reading.wait, WaitReason::kSleeping);
}

TEST(ThreadProbe, PollIsForADescriptor) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const ThreadReading reading = ReadWhile(
      [&](std::atomic<bool>& stop) {
        pollfd wait = {fds[0], POLLIN, 0};
        while (!stop) poll(&wait, 1, 50);
      },
      [](const ThreadReading& r) { return r.wait == WaitReason::kDescriptor && r.syscall >= 0; });
  EXPECT_EQ(reading.wait, WaitReason::kDescriptor);
  close(fds[0]);
  close(fds[1]);
}

TEST(ThreadProbe, ThreadThatIsGoneIsUnknown) {
  std::atomic<int> tid{0};
  std::thread thread([&] { tid = CurrentTid(); });
  thread.join();
  const ThreadReading reading = ThreadProbe(tid).Read();
  EXPECT_FALSE(reading.sched_known);
  EXPECT_EQ(reading.wait, WaitReason::kUnknown);
}

TEST(ThreadProbe, FaultsAreCounted) {
  const ThreadReading reading = ReadWhile(
      [](std::atomic<bool>& stop) {
        constexpr size_t kBytes = 4 << 20;
        auto* memory = static_cast<volatile char*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        madvise(const_cast<char*>(memory), kBytes, MADV_NOHUGEPAGE);
        for (size_t at = 0; at < kBytes; at += 4096) memory[at] = 1;
        while (!stop) usleep(1000);
        munmap(const_cast<char*>(memory), kBytes);
      },
      [](const ThreadReading& r) { return r.minor_faults >= 1024; });
  EXPECT_GE(reading.minor_faults, 1024u);
}

TEST(ClassifyWait, ReadsOfFilesAreDiskAndOfPipesAreNot) {
  using FdClass = StackSample::FdClass;
  const auto classify = [](char state, int32_t number, FdClass fd_class = FdClass::kNone) {
    return ClassifyWait({state, number, fd_class});
  };
  EXPECT_EQ(classify('S', SYS_read, FdClass::kPipe), WaitReason::kDescriptor);
  EXPECT_EQ(classify('S', SYS_read, FdClass::kFile), WaitReason::kDisk);
  EXPECT_EQ(classify('D', SYS_read, FdClass::kPipe), WaitReason::kDisk);
  EXPECT_EQ(classify('S', SYS_fsync), WaitReason::kDisk);
  EXPECT_EQ(classify('D', -1), WaitReason::kDisk);
  EXPECT_EQ(classify('S', -1), WaitReason::kBlocked);
  EXPECT_EQ(classify('S', SYS_recvmsg, FdClass::kSocket), WaitReason::kDescriptor);
  EXPECT_EQ(classify('S', SYS_flock, FdClass::kFile), WaitReason::kBlocked);
}

TEST(ClassifyWait, ConditionIsNoLock) {
  // As the C library calls it: for a mutex, for a condition, for one that inherits priority.
  EXPECT_EQ(ClassifyWait({.state = 'S', .number = SYS_futex, .second_argument = 0x80}),
            WaitReason::kLock);
  EXPECT_EQ(ClassifyWait({.state = 'S', .number = SYS_futex, .second_argument = 0x189}),
            WaitReason::kThread);
  EXPECT_EQ(ClassifyWait({.state = 'S', .number = SYS_futex, .second_argument = 0x86}),
            WaitReason::kLock);
  EXPECT_EQ(ClassifyWait({.state = 'S',
                          .number = SYS_futex,
                          .second_argument = FUTEX_WAIT_PRIVATE,
                          .by_syscall = true}),
            WaitReason::kThread);
}

}  // namespace
}  // namespace jankbox

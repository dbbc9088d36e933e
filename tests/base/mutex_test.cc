#include "base/mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/clock.h"

namespace jankbox {
namespace {

struct Counter {
  Mutex mutex;
  CondVar changed;
  int value GUARDED_BY(mutex) = 0;
};

TEST(Mutex, OnlyOneThreadOwnsIt) {
  Counter counter;
  const auto add = [&counter] {
    for (int i = 0; i < 100'000; ++i) {
      MutexLock lock(&counter.mutex);
      ++counter.value;
    }
  };
  std::thread other(add);
  add();
  other.join();
  MutexLock lock(&counter.mutex);
  EXPECT_EQ(counter.value, 200'000);
}

TEST(CondVar, WaiterSeesWhatWasChangedBeforeTheNotification) {
  Counter counter;
  std::thread other([&counter] {
    MutexLock lock(&counter.mutex);
    counter.value = 7;
    counter.changed.NotifyAll();
  });
  {
    MutexLock lock(&counter.mutex);
    while (counter.value == 0) counter.changed.Wait(&counter.mutex);
    EXPECT_EQ(counter.value, 7);
  }
  other.join();
}

TEST(CondVar, TimedWaitEndsAfterItsDeadlineAndNotBefore) {
  Counter counter;
  MutexLock lock(&counter.mutex);
  const uint64_t deadline_ns = MonotonicNs() + 20 * kNsPerMs;
  while (counter.changed.WaitUntil(&counter.mutex, deadline_ns)) {
  }
  EXPECT_GE(MonotonicNs(), deadline_ns);
  EXPECT_FALSE(counter.changed.WaitUntil(&counter.mutex, 0));  // long ago
}

TEST(CondVar, DeadlineBeyondTheClockIsAWaitForTheNotification) {
  Counter counter;
  std::thread other([&counter] {
    MutexLock lock(&counter.mutex);
    counter.value = 1;
    counter.changed.NotifyOne();
  });
  {
    MutexLock lock(&counter.mutex);
    while (counter.value == 0) {
      EXPECT_TRUE(counter.changed.WaitUntil(&counter.mutex, UINT64_MAX));
    }
  }
  other.join();
}

std::atomic<bool> g_making{false}, g_may_end{false};

const int& MadeSlowlyTheFirstTime() {
  return MakeOnce([] {
    const bool first = !g_making.exchange(true);
    while (first && !g_may_end) std::this_thread::yield();
    return new const int(first ? 1 : 2);
  });
}

TEST(MakeOnce, ChildForkedWhileAnotherThreadMakesItDoesNotWait) {
  g_making = g_may_end = false;
  std::thread maker([] { MadeSlowlyTheFirstTime(); });
  while (!g_making) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) _exit(MadeSlowlyTheFirstTime());
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  const int& made = MadeSlowlyTheFirstTime();
  g_may_end = true;
  maker.join();
  EXPECT_EQ(made, 2);
  EXPECT_EQ(&MadeSlowlyTheFirstTime(), &made) << "the maker that was late has replaced it";
}

}  // namespace
}  // namespace jankbox

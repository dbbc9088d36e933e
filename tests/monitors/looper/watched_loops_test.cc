#include "monitors/looper/watched_loops.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "monitors/looper/thread_wait.h"

namespace jankbox {
namespace {

// On a thread of that name.
void OnThread(const char* name, const std::function<void()>& body) {
  std::thread([&] {
    pthread_setname_np(pthread_self(), name);
    body();
  }).join();
}

class WatchedLoopsTest : public testing::Test {
 protected:
  void TearDown() override { WatchedLoops::SetWanted(""); }
};

TEST(NameIsListed, NamesAndPrefixesBetweenCommas) {
  EXPECT_FALSE(NameIsListed("", "render"));
  EXPECT_TRUE(NameIsListed("render", "render"));
  EXPECT_FALSE(NameIsListed("render", "renderer"));
  EXPECT_TRUE(NameIsListed("io-*,render", "io-7"));
  EXPECT_TRUE(NameIsListed("io-*,render", "render"));
  EXPECT_FALSE(NameIsListed("io-*,render", "i"));
  EXPECT_TRUE(NameIsListed("*", "anything"));
  EXPECT_FALSE(NameIsListed(",,", ""));
}

TEST_F(WatchedLoopsTest, MainThreadIsWatchedAndOthersAreNot) {
  LoopDispatches* main = WatchedLoops::OfThisThread();
  EXPECT_EQ(main, &WatchedLoops::Main());
  EXPECT_EQ(WatchedLoops::OfThisThread(), main);
  OnThread("worker", [] { EXPECT_EQ(WatchedLoops::OfThisThread(), nullptr); });
}

TEST_F(WatchedLoopsTest, ThreadsAreWatchedByNameAlsoWhereTheyHadAskedBefore) {
  OnThread("render", [] {
    EXPECT_EQ(WatchedLoops::OfThisThread(), nullptr);
    WatchedLoops::SetWanted("render,io-*");
    LoopDispatches* loop = WatchedLoops::OfThisThread();
    EXPECT_NE(loop, nullptr);
    WatchedLoops::SetWanted("io-*");
    EXPECT_EQ(WatchedLoops::OfThisThread(), loop) << "once watched, always";
  });
  OnThread("io-3", [] { EXPECT_NE(WatchedLoops::OfThisThread(), nullptr); });
  OnThread("worker", [] { EXPECT_EQ(WatchedLoops::OfThisThread(), nullptr); });
  WatchedLoops::SetWanted("*");
  OnThread("jankbox-upload", [] { EXPECT_EQ(WatchedLoops::OfThisThread(), nullptr); });
}

TEST_F(WatchedLoopsTest, ThreadThatAsksIsWatched) {
  OnThread("worker", [] {
    WatchedLoops::WatchThisThread();
    LoopDispatches* loop = WatchedLoops::OfThisThread();
    EXPECT_NE(loop, nullptr);
    WatchedLoops::WatchThisThread();
    EXPECT_EQ(WatchedLoops::OfThisThread(), loop);
  });
}

// Its loop is reported by other means.
TEST_F(WatchedLoopsTest, ThreadThatLeavesIsNotWatchedByItsName) {
  WatchedLoops::SetWanted("AWT-*");
  OnThread("AWT-1", [] {
    WatchedLoops::LeaveThisThread();
    EXPECT_EQ(WatchedLoops::OfThisThread(), nullptr);
  });
  OnThread("AWT-2", [] {
    EXPECT_NE(WatchedLoops::OfThisThread(), nullptr);
    WatchedLoops::LeaveThisThread();
    EXPECT_EQ(WatchedLoops::OfThisThread(), nullptr);
  });
  OnThread("AWT-3", [] { EXPECT_NE(WatchedLoops::OfThisThread(), nullptr); });
}

TEST_F(WatchedLoopsTest, PlacesOfThreadsThatAreGoneAreGivenAgain) {
  for (int i = 0; i < 50; ++i) {
    OnThread("worker", [] {
      WatchedLoops::WatchThisThread();
      EXPECT_NE(WatchedLoops::OfThisThread(), nullptr);
    });
  }
}

TEST_F(WatchedLoopsTest, ThereIsRoomForSevenBesideTheMainOne) {
  std::atomic<int> watched{0}, ready{0};
  std::atomic<bool> leave{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&] {
      WatchedLoops::WatchThisThread();
      if (WatchedLoops::OfThisThread() != nullptr) ++watched;
      ++ready;
      while (!leave) std::this_thread::yield();
    });
  }
  while (ready < 12) std::this_thread::yield();
  EXPECT_EQ(watched, WatchedLoops::kMaxLoops - 1);
  EXPECT_NE(WatchedLoops::OfThisThread(), nullptr);
  leave = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(WatchedLoopsTest, ForkedChildOfAWorkerIsAMainThread) {
  OnThread("worker", [] {
    EXPECT_EQ(WatchedLoops::OfThisThread(), nullptr);
    const pid_t child = fork();
    if (child == 0) {
      WatchedLoops::ForgetAll();
      _exit(WatchedLoops::OfThisThread() == &WatchedLoops::Main() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  });
}

// As epoll_wait() in the agent; `inside` runs while it waits.
__attribute__((noinline)) bool WaitForDescriptor(void (*inside)()) {
  ThreadWait wait(nullptr, JANKBOX_WAIT_CALL(kEpoll, .fd = 3));
  inside();
  wait.Done(nullptr);
  return wait.needs_recorder();
}

TEST_F(WatchedLoopsTest, WaitsInsideOfAWaitAreNotTheLoops) {
  static bool own_inside;
  own_inside = true;
  EXPECT_TRUE(WaitForDescriptor([] { own_inside = WaitForDescriptor([] {}); }));
  EXPECT_FALSE(own_inside);
}

TEST_F(WatchedLoopsTest, WaitThatASignalHandlerLeftByAJumpHidesNoOther) {
  static jmp_buf top;
  if (setjmp(top) == 0) WaitForDescriptor([] { longjmp(top, 1); });
  EXPECT_TRUE(WaitForDescriptor([] {}));
}

}  // namespace
}  // namespace jankbox

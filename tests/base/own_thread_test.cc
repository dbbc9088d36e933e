#include "base/own_thread.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/clock.h"

namespace jankbox {
namespace {

TEST(OwnThread, RunsAndEnds) {
  OwnThread thread;
  EXPECT_TRUE(thread.Join(0)) << "none runs";
  for (int i = 0; i < 3; ++i) {
    std::atomic<bool> ran{false};
    ASSERT_TRUE(thread.Start([&] { ran = true; }));
    EXPECT_TRUE(thread.running());
    EXPECT_TRUE(thread.Join(UINT64_MAX));
    EXPECT_FALSE(thread.running());
    EXPECT_TRUE(ran);
  }
}

TEST(OwnThread, OneThatDoesNotEndIsLeftBehind) {
  static auto* const thread = new OwnThread();  // the thread's from then on
  static std::atomic<bool> go_on{false};
  static std::atomic<bool> done{false};
  ASSERT_TRUE(thread->Start([] {
    while (!go_on) usleep(1000);
    done = true;
  }));
  const uint64_t begin_ns = MonotonicNs();
  EXPECT_FALSE(thread->Join(begin_ns + 50 * kNsPerMs));
  EXPECT_GE(MonotonicNs() - begin_ns, 50 * kNsPerMs);
  EXPECT_TRUE(thread->Join(0)) << "it is nobody's any more";
  go_on = true;
  while (!done) usleep(1000);
}

TEST(OwnThread, TakesNoSignals) {
  OwnThread thread;
  sigset_t blocked;
  ASSERT_TRUE(thread.Start([&] { pthread_sigmask(SIG_BLOCK, nullptr, &blocked); }));
  ASSERT_TRUE(thread.Join(UINT64_MAX));
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
  EXPECT_EQ(sigismember(&blocked, SIGPROF), 1);
}

}  // namespace
}  // namespace jankbox

// Among the tests of the ring, which has the clock that it reads.
#include "tracer/event/watcher_wake.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <random>
#include <thread>

#include "base/clock.h"
#include "tracer/event/others_fence.h"

namespace jankbox {
namespace {

TEST(WatcherWake, OnlyTheFirstActivityOfASleepWakes) {
  WatcherWake::Take();
  WatcherWake::OnActivity(5);
  EXPECT_FALSE(WatcherWake::Take()) << "it was awake";
  WatcherWake::SetAsleep(true);
  EXPECT_TRUE(WatcherWake::asleep());
  WatcherWake::OnActivity(7);
  EXPECT_FALSE(WatcherWake::asleep());
  WatcherWake::OnActivity(9);
  const std::optional<WatcherWake::Activity> activity = WatcherWake::Take();
  ASSERT_TRUE(activity);
  EXPECT_EQ(activity->begin_ticks, 7u);
  EXPECT_GE(activity->woken_ticks, 7u);
  EXPECT_FALSE(WatcherWake::Take());
  WatcherWake::SetAsleep(true);
  WatcherWake::SetAsleep(false);
  WatcherWake::OnActivity(11);
  EXPECT_FALSE(WatcherWake::Take()) << "it had changed its mind";
}

TEST(WatcherWake, SecondOfTwoClaimsEndsAWait) {
  constexpr uint64_t kLongNs = 5 * kNsPerSecond;
  WatcherWake::word().Wait(0);  // forgets earlier tests
  const uint64_t begin_ns = MonotonicNs();
  WatcherWake::AwaitClaims(2);
  WatcherWake::OnClaim(1);
  WatcherWake::word().Wait(1);
  EXPECT_FALSE(WatcherWake::Take()) << "the watcher was not asleep";
  WatcherWake::OnClaim(2);
  WatcherWake::word().Wait(kLongNs);
  WatcherWake::AwaitClaims(0);
  EXPECT_LT(MonotonicNs(), begin_ns + kLongNs);
  WatcherWake::OnClaim(3);
  const uint64_t waits_ns = MonotonicNs();
  WatcherWake::word().Wait(kNsPerMs);
  EXPECT_GE(MonotonicNs(), waits_ns + kNsPerMs) << "none was awaited";
}

// Activities that come about when the watcher falls asleep. One that woke nobody and was not seen
// would let it sleep for ever. `fences`: with membarrier, else it looks again after a short time.
void FallAsleepAmongActivities(bool fences) {
  const int activities = getenv("JANKBOX_SOAK") != nullptr ? 1'000'000 : 20'000;
  constexpr uint64_t kShortLookNs = 10'000, kAroundNs = 50'000;
  std::atomic<int> begun{0}, seen{0};
  std::atomic<bool> stop{false};
  std::thread watcher([&] {
    prctl(PR_SET_TIMERSLACK, 1ul);  // 50 µs otherwise
    while (!stop.load()) {
      WatcherWake::Take();
      seen.store(begun.load(std::memory_order_acquire));
      const bool sleeps = WatcherWake::asleep();
      if (!sleeps) {
        WatcherWake::SetAsleep(true);
        if (fences) OthersFence::Run();
        if (fences) continue;
      }
      WatcherWake::word().Wait(sleeps ? 60 * kNsPerSecond : kShortLookNs);
    }
  });
  std::minstd_rand random;
  std::uniform_int_distribution<uint64_t> pause(0, kShortLookNs + kAroundNs);
  for (int i = 1; i <= activities; ++i) {
    const uint64_t deadline_ns = MonotonicNs() + 20 * kNsPerSecond;
    while (seen.load() != i - 1 && MonotonicNs() < deadline_ns) std::this_thread::yield();
    EXPECT_EQ(seen.load(), i - 1) << "the watcher sleeps on";
    if (testing::Test::HasFailure()) break;
    const uint64_t from_ns = MonotonicNs() + pause(random);
    while (MonotonicNs() < from_ns) {
    }
    begun.store(i, std::memory_order_release);
    WatcherWake::OnActivity(static_cast<uint64_t>(i));
  }
  stop.store(true);
  WatcherWake::word().Wake();
  watcher.join();
  WatcherWake::SetAsleep(false);
}

TEST(WatcherWake, NoActivityIsMissedWhileTheWatcherFallsAsleep) {
  FallAsleepAmongActivities(/*fences=*/false);
}

TEST(WatcherWake, NoActivityIsMissedWithAFenceInTheOtherThreads) {
  if (!OthersFence::Register()) GTEST_SKIP() << "this kernel has no membarrier";
  FallAsleepAmongActivities(/*fences=*/true);
}

}  // namespace
}  // namespace jankbox

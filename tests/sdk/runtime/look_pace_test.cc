#include "sdk/runtime/look_pace.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace jankbox {
namespace {

constexpr uint64_t kDeadlineNs = 350 * kNsPerMs;
constexpr uint64_t kLookNs = 50 * kNsPerMs;

// A loop that ticks every `tick_ns`: how often the watcher wakes in ten seconds, the sleep's two
// halves counted, and whether each tick is seen by its deadline.
struct Seen {
  int wakes = 0;
  uint64_t latest_ns = 0;
};

Seen WatchTicks(uint64_t tick_ns, uint64_t confirm_ns) {
  LookPace pace;
  Seen seen;
  bool asleep = false;
  uint64_t now_ns = kNsPerSecond, looked_ns = now_ns, next_ns = now_ns + tick_ns;
  const uint64_t from_ns = now_ns + kNsPerSecond, to_ns = from_ns + 10 * kNsPerSecond;
  while (now_ns < to_ns) {
    uint64_t began = 0;
    for (; next_ns <= now_ns; next_ns += tick_ns, ++began) {
      seen.latest_ns = std::max(seen.latest_ns, now_ns - next_ns);
    }
    looked_ns = now_ns;
    LookPace::Plan plan = pace.Next({.look_ns = kLookNs,
                                     .rest_ns = 60 * kNsPerSecond,
                                     .deadline_ns = kDeadlineNs,
                                     .began = began,
                                     .asleep = asleep});
    if (plan.asleep && !asleep) plan.sleep_ns = confirm_ns;
    asleep = plan.asleep;
    if (asleep && next_ns <= now_ns + plan.sleep_ns) {
      now_ns = next_ns;
      asleep = false;
      pace.Woken(now_ns, kDeadlineNs);
      if (now_ns >= from_ns) ++seen.wakes;
      now_ns += kLookNs;
    } else {
      now_ns += plan.sleep_ns;
    }
    if (now_ns >= from_ns && now_ns != looked_ns) ++seen.wakes;
  }
  return seen;
}

TEST(LookPace, TicksCostFewWakeUpsAndAreSeenInTime) {
  for (const uint64_t confirm_ns : {uint64_t{0}, 10 * kNsPerMs}) {
    const int confirms = confirm_ns == 0 ? 0 : 1;
    EXPECT_LE(WatchTicks(kNsPerSecond, confirm_ns).wakes, 10 * (2 + confirms) + 2)
        << "and one more tick";
    for (const uint64_t hz : {2, 3, 5, 10, 60, 500}) {
      const Seen seen = WatchTicks(kNsPerSecond / hz, confirm_ns);
      EXPECT_LE(seen.wakes, 10 * (4 + confirms) + 2) << hz << " Hz";
      EXPECT_LE(seen.latest_ns, kDeadlineNs) << hz << " Hz";
    }
  }
}

TEST(LookPace, SleepsOnlyAfterALookSinceItSaidSo) {
  LookPace pace;
  const LookPace::Look quiet = {.look_ns = 50, .rest_ns = 1000, .deadline_ns = 350};
  LookPace::Look confirmed = quiet;
  confirmed.asleep = true;
  LookPace::Plan plan = pace.Next(quiet);
  EXPECT_TRUE(plan.asleep);
  EXPECT_EQ(plan.sleep_ns, 0u);
  plan = pace.Next(confirmed);
  EXPECT_TRUE(plan.asleep);
  EXPECT_EQ(plan.sleep_ns, 1000u);
}

TEST(LookPace, LooksWhileSomethingGoesOn) {
  LookPace pace;
  const LookPace::Plan plan = pace.Next({.look_ns = 50, .deadline_ns = 350, .asleep = true});
  EXPECT_FALSE(plan.asleep);
  EXPECT_EQ(plan.sleep_ns, 50u);
}

}  // namespace
}  // namespace jankbox

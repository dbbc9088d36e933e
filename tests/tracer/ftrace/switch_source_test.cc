#include "tracer/ftrace/switch_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own_thread.h"

namespace jankbox {
namespace {

TEST(SwitchSource, SleepsAreFoundWithTheirTimes) {
  Result<std::unique_ptr<SwitchSource>> source = SwitchSource::Open(CurrentTid());
  if (!source.ok()) GTEST_SKIP() << source.status().message();
  struct Slept {
    uint64_t from;
    uint64_t to;
  };
  std::vector<Slept> sleeps;
  for (int i = 0; i < 10; ++i) {
    const uint64_t from = MonotonicNs();
    usleep(5'000);
    sleeps.push_back({from, MonotonicNs()});
  }
  const std::vector<OwnSwitch> switches = source.value()->Read();
  for (size_t i = 1; i < switches.size(); ++i) {
    EXPECT_LE(switches[i - 1].monotonic_ns, switches[i].monotonic_ns);
  }
  for (const Slept& slept : sleeps) {
    bool found = false;
    for (size_t i = 0; i + 1 < switches.size(); ++i) {
      const bool inside =
          switches[i].monotonic_ns >= slept.from && switches[i + 1].monotonic_ns <= slept.to;
      const uint64_t off = switches[i + 1].monotonic_ns - switches[i].monotonic_ns;
      found |= inside && switches[i].out && !switches[i].preempted && off > 4'500'000;
    }
    EXPECT_TRUE(found);
  }
}

TEST(SwitchSource, RingThatWasOverwrittenHasTheLastOnes) {
  Result<std::unique_ptr<SwitchSource>> source = SwitchSource::Open(CurrentTid());
  if (!source.ok()) GTEST_SKIP() << source.status().message();
  for (int i = 0; i < 5'000; ++i) usleep(1);
  const uint64_t from = MonotonicNs();
  for (int i = 0; i < 100; ++i) usleep(1);
  const std::vector<OwnSwitch> switches = source.value()->Read();
  EXPECT_GT(switches.size(), 1'000u);
  EXPECT_LT(switches.size(), 10'000u);
  size_t last = 0;
  for (const OwnSwitch& one : switches) last += one.monotonic_ns >= from ? 1 : 0;
  EXPECT_GE(last, 100u);  // two a sleep, but for sleeps that are over before the thread is off
}

TEST(SwitchSource, ThreadThatIsNoneIsAnError) { EXPECT_FALSE(SwitchSource::Open(4'194'304).ok()); }

}  // namespace
}  // namespace jankbox

#include <gtest/gtest.h>

#include "tracer/clock/tick_clock.h"

namespace jankbox {
namespace {

// A counter of 2 ticks a ns that went on for an hour while CLOCK_MONOTONIC was still.
class TickConverterTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kHour = 3600 * kNsPerSecond;
  static constexpr uint64_t kSleepAt = 50 * kNsPerSecond;  // CLOCK_MONOTONIC

  static uint64_t Ticks(uint64_t monotonic_ns) {
    return 2 * (monotonic_ns < kSleepAt ? monotonic_ns : monotonic_ns + kHour);
  }
  static ClockReading At(uint64_t monotonic_ns) {
    return {Ticks(monotonic_ns), monotonic_ns, monotonic_ns, 0};
  }

  const TickConverter converter_{At(51 * kNsPerSecond),
                                 At(60 * kNsPerSecond),
                                 0.5,
                                 {2 * (kSleepAt + kHour / 2), kSleepAt, kHour}};
};

TEST_F(TickConverterTest, MomentsOnBothSidesOfASleepAreRight) {
  for (const uint64_t second : {10u, 49u, 51u, 55u, 70u}) {
    const uint64_t ns = second * kNsPerSecond;
    EXPECT_EQ(converter_.ToMonotonicNs(Ticks(ns)), ns) << second;
    EXPECT_EQ(converter_.FromMonotonicNs(ns), Ticks(ns)) << second;
  }
}

TEST_F(TickConverterTest, WithoutASleepItIsOneLine) {
  const TickConverter line({1000, 500, 500, 0},
                           {1000 + 4 * kNsPerSecond, 500 + 2 * kNsPerSecond, 0, 0}, 1.0);
  EXPECT_EQ(line.ToMonotonicNs(1000 + 2 * kNsPerSecond), 500 + kNsPerSecond);
  EXPECT_EQ(line.FromMonotonicNs(500 + kNsPerSecond), 1000 + 2 * kNsPerSecond);
}

}  // namespace
}  // namespace jankbox

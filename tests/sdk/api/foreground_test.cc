#include "sdk/api/foreground.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

class ForegroundTest : public testing::Test {
 protected:
  ~ForegroundTest() override { g_in_front_since_ns.store(1, std::memory_order_relaxed); }
};

TEST_F(ForegroundTest, AppThatNeverSaidSoIsInFrontSinceEver) { EXPECT_EQ(InFrontNs(1000), 999u); }

TEST_F(ForegroundTest, BackgroundIsZeroAtAnyMoment) {
  EXPECT_TRUE(SetForeground(false));
  EXPECT_EQ(InFrontNs(MonotonicNs()), 0u);
  EXPECT_EQ(InFrontNs(UINT64_MAX), 0u);
}

TEST_F(ForegroundTest, TimeInFrontIsCountedFromTheReturn) {
  SetForeground(false);
  const uint64_t before_ns = MonotonicNs();
  EXPECT_TRUE(SetForeground(true));
  const uint64_t after_ns = MonotonicNs();
  const uint64_t later_ns = after_ns + kNsPerSecond;
  EXPECT_GE(InFrontNs(later_ns), kNsPerSecond);
  EXPECT_LE(InFrontNs(later_ns), kNsPerSecond + (after_ns - before_ns));
}

TEST_F(ForegroundTest, SayingTheSameAgainIsNoChange) {
  EXPECT_FALSE(SetForeground(true));
  EXPECT_TRUE(SetForeground(false));
  EXPECT_FALSE(SetForeground(false));
  EXPECT_TRUE(SetForeground(true));
  const uint64_t since = g_in_front_since_ns.load();
  EXPECT_FALSE(SetForeground(true));
  EXPECT_EQ(g_in_front_since_ns.load(), since) << "it is in front for as long as before";
}

// The watcher's `now` may be older than a return that another thread just noted.
TEST_F(ForegroundTest, MomentBeforeTheReturnIsInTheBackground) {
  SetForeground(false);
  SetForeground(true);
  const uint64_t since = g_in_front_since_ns.load();
  EXPECT_EQ(InFrontNs(since - 1), 0u);
  EXPECT_EQ(InFrontNs(since), 0u);
  EXPECT_EQ(InFrontNs(since + 1), 1u);
}

}  // namespace
}  // namespace jankbox

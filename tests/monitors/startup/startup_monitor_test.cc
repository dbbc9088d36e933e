#include "monitors/startup/startup_monitor.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

TEST(StartupMonitor, ColdStartEndsWithTheFirstFrame) {
  StartupMonitor monitor(5 * kSecond, 6 * kSecond);
  monitor.OnDispatch(8 * kSecond);
  EXPECT_FALSE(monitor.TakeFinished(16 * kSecond).has_value());
  monitor.OnFrame(17 * kSecond);
  monitor.OnFrame(18 * kSecond);
  const auto start = monitor.TakeFinished(18 * kSecond);
  ASSERT_TRUE(start.has_value());
  EXPECT_TRUE(start->cold);
  EXPECT_EQ(start->recorder_ns, 6 * kSecond);
  EXPECT_EQ(start->first_dispatch_ns, 8 * kSecond);
  EXPECT_EQ(start->end_ns(), 17 * kSecond);
  EXPECT_TRUE(StartupMonitor::TooSlow(*start, {}));
  EXPECT_FALSE(StartupMonitor::TooSlow(*start, {.cold_ns = 12 * kSecond + 1}));
  EXPECT_FALSE(monitor.TakeFinished(30 * kSecond).has_value());
}

TEST(StartupMonitor, WarmStartIsFromTheFrontToTheFrame) {
  StartupMonitor monitor(1 * kSecond, 1 * kSecond);
  monitor.OnFrame(2 * kSecond);
  ASSERT_TRUE(monitor.TakeFinished(2 * kSecond).has_value());
  monitor.OnForeground(false, 100 * kSecond);
  monitor.OnFrame(101 * kSecond);  // nobody sees it
  monitor.OnForeground(true, 200 * kSecond);
  monitor.OnFrame(199 * kSecond);  // reported late, but older
  EXPECT_FALSE(monitor.TakeFinished(201 * kSecond).has_value());
  monitor.OnFrame(204 * kSecond);
  const auto start = monitor.TakeFinished(204 * kSecond);
  ASSERT_TRUE(start.has_value());
  EXPECT_FALSE(start->cold);
  EXPECT_TRUE(StartupMonitor::TooSlow(*start, {}));
  EXPECT_EQ(start->end_ns() - start->begin_ns, 4 * kSecond);
}

TEST(StartupMonitor, StartThatWasLeftIsNone) {
  StartupMonitor monitor(1 * kSecond, 1 * kSecond);
  monitor.OnForeground(false, 3 * kSecond);
  monitor.OnFrame(40 * kSecond);
  EXPECT_FALSE(monitor.TakeFinished(41 * kSecond).has_value());
}

TEST(StartupMonitor, AppThatSaysWhenItIsDrawnIsWaitedFor) {
  StartupMonitor monitor(1 * kSecond, 1 * kSecond);
  monitor.OnDrawn(3 * kSecond);  // without a frame
  EXPECT_EQ(monitor.TakeFinished(3 * kSecond)->end_ns(), 3 * kSecond);
  for (const bool says : {true, false}) {
    monitor.OnForeground(false, 10 * kSecond);
    monitor.OnForeground(true, 20 * kSecond);
    monitor.OnFrame(21 * kSecond);
    EXPECT_FALSE(monitor.TakeFinished(22 * kSecond).has_value());
    if (says) monitor.OnDrawn(23 * kSecond);
    const auto start = monitor.TakeFinished(says ? 23 * kSecond : 26 * kSecond);
    ASSERT_TRUE(start.has_value());
    EXPECT_EQ(start->end_ns(), (says ? 23 : 21) * kSecond);
  }
}

}  // namespace
}  // namespace jankbox

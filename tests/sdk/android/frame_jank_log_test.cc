#include "sdk/android/jni/frame_jank_log.h"

#include <gtest/gtest.h>

namespace jankbox {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(FrameJankLog, ReportsLateFramesAndTimes) {
  FrameJankLog log;
  EXPECT_TRUE(log.empty());
  log.Note({.vsync_id = 1, .type = 0, .scheduled_ns = 16 * kMs, .actual_ns = 8 * kMs});
  log.Note({.vsync_id = 2, .type = 2, .scheduled_ns = 16 * kMs, .actual_ns = 190 * kMs});
  log.Note({.vsync_id = 3, .type = 1 | 4, .scheduled_ns = 16 * kMs, .actual_ns = 9 * kMs});
  EXPECT_EQ(log.Counts(), "application 1, composer 1, other 1 of 3 frames");
  EXPECT_EQ(log.Janky(256), "3 composer+other 9/16 ms, 2 application 190/16 ms");
  EXPECT_EQ(log.Janky(30), "3 composer+other 9/16 ms");
}

TEST(FrameJankLog, OldFramesLeave) {
  FrameJankLog log;
  log.Note({.vsync_id = 1, .type = 2});
  for (size_t i = 0; i < FrameJankLog::kKept; ++i) log.Note({.vsync_id = 2});
  EXPECT_EQ(log.Counts(), "application 0, composer 0, other 0 of 256 frames");
  EXPECT_EQ(log.Janky(256), "");
}

}  // namespace
}  // namespace jankbox

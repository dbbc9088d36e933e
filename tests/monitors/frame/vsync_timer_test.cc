#include "monitors/frame/vsync_timer.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "monitors/frame/frame_policy.h"

namespace jankbox {
namespace {

constexpr uint64_t kInterval = 10 * kNsPerMs;

TEST(VsyncTimer, TicksAreAnIntervalApartAndTheFirstUnservedOneIsTheFrames) {
  const int fd = OpenVsyncTimer(kInterval);
  ASSERT_GE(fd, 0);
  FrameEvent frame;
  uint64_t last_vsync = 0;
  for (int i = 0; i < 5; ++i) {
    pollfd event = {fd, POLLIN, 0};
    ASSERT_EQ(poll(&event, 1, 5000), 1);
    ASSERT_TRUE(ReadVsyncTimer(fd, &frame));
    EXPECT_LE(frame.vsync_ns, frame.start_ns);
    if (last_vsync != 0) {
      // Of the grid, but for the moment between two readings of the clock.
      const uint64_t apart = frame.vsync_ns - last_vsync;
      EXPECT_LT((apart + kInterval / 4) % kInterval, kInterval / 2) << apart;
    }
    last_vsync = frame.vsync_ns;
  }
  usleep(55'000);
  ASSERT_TRUE(ReadVsyncTimer(fd, &frame));
  EXPECT_GE(JitterNs(frame), 40 * kNsPerMs);  // the thread was away for five of them
  EXPECT_EQ(frame.interval_ns, kInterval);
  EXPECT_EQ(frame.deadline_ns, frame.vsync_ns + kInterval);
  close(fd);
  EXPECT_FALSE(ReadVsyncTimer(fd, &frame));
}

TEST(VsyncTimer, WithoutATickThereIsNoFrame) {
  const int fd = OpenVsyncTimer(kNsPerSecond);
  ASSERT_GE(fd, 0);
  FrameEvent frame;
  EXPECT_FALSE(ReadVsyncTimer(fd, &frame));  // not yet
  pollfd event = {fd, POLLIN, 0};
  ASSERT_EQ(poll(&event, 1, 5000), 1);
  EXPECT_TRUE(ReadVsyncTimer(fd, &frame));
  EXPECT_FALSE(ReadVsyncTimer(fd, &frame));  // served
  close(fd);
}

}  // namespace
}  // namespace jankbox

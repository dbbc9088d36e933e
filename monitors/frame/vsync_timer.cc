#include "monitors/frame/vsync_timer.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"

namespace jankbox {
namespace {

timespec ToTimespec(uint64_t ns) {
  return {static_cast<time_t>(ns / kNsPerSecond), static_cast<long>(ns % kNsPerSecond)};
}

uint64_t FromTimespec(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * kNsPerSecond + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

int OpenVsyncTimer(uint64_t interval_ns) {
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  if (fd < 0) return -1;
  const itimerspec timer = {ToTimespec(interval_ns), ToTimespec(interval_ns)};
  if (timerfd_settime(fd, 0, &timer, nullptr) == 0) return fd;
  close(fd);
  return -1;
}

bool ReadVsyncTimer(int fd, FrameEvent* frame) {
  uint64_t due = 0;
  itimerspec timer;
  if (read(fd, &due, sizeof(due)) != sizeof(due) || due == 0) return false;
  if (timerfd_gettime(fd, &timer) != 0) return false;
  const uint64_t interval_ns = FromTimespec(timer.it_interval);
  const uint64_t now_ns = MonotonicNs();
  if (interval_ns == 0) return false;
  const uint64_t last_ns = now_ns + FromTimespec(timer.it_value) - interval_ns;
  *frame = FrameEvent();
  frame->source = FrameSource::kTimer;
  frame->interval_ns = interval_ns;
  frame->vsync_ns = last_ns - (due - 1) * interval_ns;
  frame->vsync_id = frame->vsync_ns / interval_ns;
  frame->deadline_ns = frame->vsync_ns + interval_ns;
  frame->start_ns = now_ns;
  return true;
}

}  // namespace jankbox

// A vsync by timerfd, for programs that draw without a display. The descriptor is all its state.
// Any thread; a system call each.
#ifndef JANKBOX_MONITORS_FRAME_VSYNC_TIMER_H_
#define JANKBOX_MONITORS_FRAME_VSYNC_TIMER_H_

#include <cstdint>

#include "tracer/event/frame_event.h"

namespace jankbox {

// A descriptor that is readable once an interval; -1 with errno.
int OpenVsyncTimer(uint64_t interval_ns);

// True if an interval began that was not read yet: `frame` has the vsync of the first such one,
// interval, deadline and start (now).
bool ReadVsyncTimer(int fd, FrameEvent* frame);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_FRAME_VSYNC_TIMER_H_

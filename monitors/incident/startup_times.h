// When one start of the app reached which point. Plain data; ns of CLOCK_MONOTONIC.
#ifndef JANKBOX_MONITORS_INCIDENT_STARTUP_TIMES_H_
#define JANKBOX_MONITORS_INCIDENT_STARTUP_TIMES_H_

#include <cstdint>

namespace jankbox {

// Moments of one start; 0 if they did not come.
struct StartupTimes {
  bool cold = true;
  uint64_t begin_ns = 0;           // the process began, or the app came back to the front
  uint64_t recorder_ns = 0;        // Jankbox began to record; cold starts only
  uint64_t first_dispatch_ns = 0;  // the UI thread's loop took its first message
  uint64_t first_frame_ns = 0;     // the first frame was done
  uint64_t drawn_ns = 0;           // the app said that all is there
  // Its end: what the app said, else the first frame.
  uint64_t end_ns() const { return drawn_ns != 0 ? drawn_ns : first_frame_ns; }
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_STARTUP_TIMES_H_

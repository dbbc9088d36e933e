// Touch lag: how long input events waited until they were handled (Matrix' TouchEventTracer, 2 s),
// from their own timestamps. The app says so if it handles one; GDK, Qt, X11 and Wayland events
// carry milliseconds of CLOCK_MONOTONIC (jankbox_input_time_ns). On() is HOT, of watched threads:
// NO-ALLOC, no lock, no system call; Take() is the watcher's.
#ifndef JANKBOX_MONITORS_LOOPER_INPUT_LATENCY_H_
#define JANKBOX_MONITORS_LOOPER_INPUT_LATENCY_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "monitors/incident/signal.h"

namespace jankbox {

class InputLatency {
 public:
  // Beyond it a timestamp is of another clock.
  static constexpr uint64_t kMaxAgeMs = 60'000;

  static void SetThreshold(uint64_t ns);

  // This thread handles an event that happened at `event_ns` of CLOCK_MONOTONIC.
  static void On(uint64_t event_ns);

  // The events that the watched thread at `index` of the ring handled too late, once each; of
  // several within a second the one that waited longest. `seen` is the caller's, 0 at first.
  static std::optional<Signal> Take(size_t index, uint32_t* seen);

  // The watched thread at `index` is gone; another may come in its place.
  static void Forget(size_t index);
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_INPUT_LATENCY_H_

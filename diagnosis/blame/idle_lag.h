// Idle callbacks that took too long (Matrix' IdleHandlerLagTracer, 2 s): work that was put off
// until the loop has nothing to do, and blocks it then. They are dispatches whose names start with
// kIdlePrefix, inside a slow message; which one it was is read from the window when that is sealed.
#ifndef JANKBOX_DIAGNOSIS_BLAME_IDLE_LAG_H_
#define JANKBOX_DIAGNOSIS_BLAME_IDLE_LAG_H_

#include <cstdint>
#include <string>

#include "tracer/ring/ring_window.h"

namespace jankbox {

struct IdleLag {
  std::string what;         // without the prefix
  uint64_t wall_ticks = 0;  // 0: none took so long
};

// The longest idle callback of thread `tid` that ran within [from_ticks, to_ticks], if it took
// `least_ticks` or more; one that has not ended counts up to `to_ticks`. Sealing thread; allocates.
IdleLag LongestIdleCallback(const RingWindow& window, int32_t tid, uint64_t from_ticks,
                            uint64_t to_ticks, uint64_t least_ticks);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_IDLE_LAG_H_

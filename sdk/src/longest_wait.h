// The longest wait of an incident's thread for a lock or another thread, as a sentence for the
// report: what the verdict's share "lock" was about, and whose. Pure function; allocates.
#ifndef JANKBOX_SDK_SRC_LONGEST_WAIT_H_
#define JANKBOX_SDK_SRC_LONGEST_WAIT_H_

#include <cstdint>
#include <string>

#include "tracer/clock/tick_clock.h"
#include "tracer/snapshot/thread_lives.h"

namespace jankbox {

// "lock contention on a mutex (owner worker-7 [1234]): 61 ms."; empty where thread `tid` waited for
// none, or for less than 1 ms, between the two moments.
std::string LongestWaitNote(const RingWindow& window, const ThreadLives& lives, int32_t tid,
                            uint64_t from_ticks, uint64_t to_ticks, const TickConverter& clock);

}  // namespace jankbox

#endif  // JANKBOX_SDK_SRC_LONGEST_WAIT_H_

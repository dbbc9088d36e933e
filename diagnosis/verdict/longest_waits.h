// The longest waits of an incident's thread, for locks and other threads, as sentences for the
// report: what the verdict's share "lock" was about, and whose. Pure function; allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_LONGEST_WAITS_H_
#define JANKBOX_DIAGNOSIS_VERDICT_LONGEST_WAITS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/clock/tick_clock.h"
#include "tracer/snapshot/thread_lives.h"

namespace jankbox {

// "lock contention on a mutex (owner worker-7 [1234]): 61 ms.", the longest first, at most three;
// waits for the same are added up, less than 1 ms is left out. Of thread `tid`, between the two
// moments.
std::vector<std::string> LongestWaits(const RingWindow& window, const ThreadLives& lives,
                                      int32_t tid, uint64_t from_ticks, uint64_t to_ticks,
                                      const TickConverter& clock);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_LONGEST_WAITS_H_

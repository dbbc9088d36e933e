// The calls in which a watched thread waited, or may have, as it recorded them itself: locks,
// conditions, semaphores, joins, raw futexes, file calls and binder calls (tracer/interpose). Pure;
// sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_BLOCKING_CALLS_H_
#define JANKBOX_DIAGNOSIS_VERDICT_BLOCKING_CALLS_H_

#include <cstdint>
#include <vector>

#include "diagnosis/verdict/wall_time.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

// Of thread `tid`, in order and without overlap: if one call was made inside of another, as in a
// signal handler, the inner one counts. A call that has not returned lasts until `to_ticks`.
std::vector<WaitSpan> BlockingCalls(const RingWindow& window, int32_t tid, uint64_t to_ticks,
                                    const TickConverter& clock);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_BLOCKING_CALLS_H_

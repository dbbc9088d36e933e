// When a garbage collector kept a thread from running: the pauses that a virtual machine's own
// thread recorded (tracer/event/gc_pause_name.h), and the waits for the collector that the thread
// itself marked, as ART does ("GC: Wait For Completion Alloc"). Pure; sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_GC_PAUSES_H_
#define JANKBOX_DIAGNOSIS_VERDICT_GC_PAUSES_H_

#include <cstdint>
#include <vector>

#include "tracer/clock/tick_clock.h"
#include "tracer/event/method_names.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

struct GcPause {  // CLOCK_MONOTONIC
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
};

// Of thread `tid`, in order and without overlap. One that has not ended lasts as long as the
// window.
std::vector<GcPause> GcPauses(const RingWindow& window, const MethodNames& names, int32_t tid,
                              const TickConverter& clock);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_GC_PAUSES_H_

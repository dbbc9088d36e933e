// A call that a thread waited in, or may have waited in. Plain data.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_WAIT_SPAN_H_
#define JANKBOX_DIAGNOSIS_VERDICT_WAIT_SPAN_H_

#include <cstdint>

#include "tracer/event/wait_event.h"

namespace jankbox {

// Times are CLOCK_MONOTONIC in ns.
struct WaitSpan {
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  WaitEvent begin;
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_WAIT_SPAN_H_

// Stack samples if they are in the window: their moment and thread, decoded only when they are
// written, so that thousands of them cost no copies. Pure functions.
#ifndef JANKBOX_TRACER_SNAPSHOT_STACK_SAMPLES_H_
#define JANKBOX_TRACER_SNAPSHOT_STACK_SAMPLES_H_

#include <cstdint>
#include <span>

#include "tracer/unwind/stack_sample.h"

namespace jankbox {

struct SampleRef {
  uint64_t boottime_ns = 0;
  int32_t tid = 0;
  std::span<const uint64_t> payload;  // whole words, in the window
};

// A kStackSample event's payload words as a sample; false if they make no sense.
bool DecodeSampleRecord(std::span<const uint64_t> payload, StackSample* sample);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_STACK_SAMPLES_H_

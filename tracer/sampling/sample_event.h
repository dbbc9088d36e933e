// A stack sample as a kStackSample event of the ring. Payload words (60 bits of data each): 0: tid
// (bits 0-31), source (32-35), state letter (36-43), fd class (44-47), running (48), truncated
// (49), uncertain (50); 1: system call + 1 (0: none); 2: depth; 3…: addresses, innermost first.
#ifndef JANKBOX_TRACER_SAMPLING_SAMPLE_EVENT_H_
#define JANKBOX_TRACER_SAMPLING_SAMPLE_EVENT_H_

#include <cstdint>
#include <span>

#include "tracer/unwind/stack_sample.h"

namespace jankbox {

inline constexpr uint32_t kMaxSamplePayloadWords = 3 + StackSample::kMaxDepth;

// Writes the payload words into `words` (kMaxSamplePayloadWords of them); returns how many.
uint32_t EncodeSample(const StackSample& sample, uint64_t* words);

// Reads them back; false if they make no sense. `time_ns` is left to the caller, who knows the
// event's ticks.
bool DecodeSample(std::span<const uint64_t> payload, StackSample* sample);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_SAMPLE_EVENT_H_

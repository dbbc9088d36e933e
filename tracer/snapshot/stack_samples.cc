#include "tracer/snapshot/stack_samples.h"

#include <algorithm>

#include "tracer/event/event.h"
#include "tracer/sampling/sample_event.h"

namespace jankbox {

bool DecodeSampleRecord(std::span<const uint64_t> payload, StackSample* sample) {
  uint64_t words[kMaxSamplePayloadWords];
  if (payload.size() > kMaxSamplePayloadWords) return false;
  std::transform(payload.begin(), payload.end(), words, PayloadOf);
  return DecodeSample({words, payload.size()}, sample);
}

}  // namespace jankbox

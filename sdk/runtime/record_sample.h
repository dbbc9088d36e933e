// Writes a stack sample to the ring, as an event of the calling thread. Watcher thread; NO-ALLOC.
#ifndef JANKBOX_SDK_RUNTIME_RECORD_SAMPLE_H_
#define JANKBOX_SDK_RUNTIME_RECORD_SAMPLE_H_

#include "tracer/clock/tick_clock.h"
#include "tracer/event/event_sink.h"
#include "tracer/sampling/sample_event.h"

namespace jankbox {

inline void RecordSample(const StackSample& sample, const TickConverter& clock) {
  uint64_t words[kMaxSamplePayloadWords];
  const uint32_t count = EncodeSample(sample, words);
  RecordEventAt(EventKind::kStackSample, count, clock.FromMonotonicNs(sample.time_ns),
                {words, count});
}

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_RECORD_SAMPLE_H_

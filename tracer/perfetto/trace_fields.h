// What the app's writers of a trace need of Perfetto's schema: the numbers of trace.proto as
// constants, and how tags are made of them. Constants only.
#ifndef JANKBOX_TRACER_PERFETTO_TRACE_FIELDS_H_
#define JANKBOX_TRACER_PERFETTO_TRACE_FIELDS_H_

#include <cstdint>

#include "tracer/perfetto/trace.fields.h"

namespace jankbox::perfetto {

// Tags of fields below 16.
constexpr uint8_t VarintTag(uint32_t field) { return static_cast<uint8_t>(field << 3); }
constexpr uint8_t BytesTag(uint32_t field) { return static_cast<uint8_t>(field << 3 | 2); }

inline constexpr uint32_t kClockOfSequence = 64;  // first of the sequence-scoped ones

enum class TrackEventType : uint32_t {
  kSliceBegin = track_event::kTypeSliceBegin,
  kSliceEnd = track_event::kTypeSliceEnd,
  kInstant = track_event::kTypeInstant,
  kCounter = track_event::kTypeCounter,
};

}  // namespace jankbox::perfetto

#endif  // JANKBOX_TRACER_PERFETTO_TRACE_FIELDS_H_

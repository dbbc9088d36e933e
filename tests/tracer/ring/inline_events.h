// Begin and end as a program compiled with jankbox/inline.h writes them. HOT, as event_sink.h.
#ifndef JANKBOX_TESTS_TRACER_RING_INLINE_EVENTS_H_
#define JANKBOX_TESTS_TRACER_RING_INLINE_EVENTS_H_

#include <cstdint>

namespace jankbox {

void BeginInline(uint32_t id);
void EndInline(uint32_t id);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_RING_INLINE_EVENTS_H_

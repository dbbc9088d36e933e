#include "tests/tracer/ring/inline_events.h"

#include "jankbox/inline.h"
#include "tracer/event/event_sink.h"

// What the inline functions call if they cannot write in place.
extern "C" {
void jankbox_begin(uint32_t id) { jankbox::RecordEvent(jankbox::EventKind::kBegin, id); }
void jankbox_end(uint32_t id) { jankbox::RecordEvent(jankbox::EventKind::kEnd, id); }
}

namespace jankbox {

void BeginInline(uint32_t id) { jankbox_begin_inline(id); }
void EndInline(uint32_t id) { jankbox_end_inline(id); }

}  // namespace jankbox

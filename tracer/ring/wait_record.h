// A kWait event of a window: its data, and what its class is called. Pure functions but for names
// of binder calls, which are kept (binder_names.h).
#ifndef JANKBOX_TRACER_RING_WAIT_RECORD_H_
#define JANKBOX_TRACER_RING_WAIT_RECORD_H_

#include "tracer/event/wait_event.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

// A kWait event's data; false if it makes no sense.
bool DecodeWaitRecord(const EventRecord& record, WaitEvent* wait);

// The start of a binder call, named; on Linux there is none: false.
bool DecodeBinderRecord(const EventRecord& record, WaitEvent* wait);

// "lock contention on a mutex", "fsync"; valid permanently.
const char* WaitClassName(WaitClass what);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_WAIT_RECORD_H_

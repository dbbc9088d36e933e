// What a wait is called in a trace. Pure functions; allocate.
#ifndef JANKBOX_TRACER_SNAPSHOT_WAIT_SLICES_H_
#define JANKBOX_TRACER_SNAPSHOT_WAIT_SLICES_H_

#include <string>

#include "tracer/event/wait_event.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

// A kWait event's data; false where it makes no sense.
bool DecodeWaitRecord(const EventRecord& record, WaitEvent* wait);

// "lock contention on a mutex (owner worker-7 [1234])", "read (file, 65536 bytes)", "fsync (file)".
std::string WaitName(const WaitEvent& begin, const std::string& owner_name);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_WAIT_SLICES_H_

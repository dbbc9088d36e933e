// The name of a wait in a trace. A pure function; allocates.
#ifndef JANKBOX_TRACER_SNAPSHOT_WAIT_SLICES_H_
#define JANKBOX_TRACER_SNAPSHOT_WAIT_SLICES_H_

#include <string>

#include "tracer/event/wait_event.h"

namespace jankbox {

// "lock contention on a mutex (owner worker-7 [1234])", "read (file, 65536 bytes)", "fsync (file)",
// "binder call IWindowSession.relayout".
std::string WaitName(const WaitEvent& begin, const std::string& owner_name);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_WAIT_SLICES_H_

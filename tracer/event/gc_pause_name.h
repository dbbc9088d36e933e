// The name of a recorded call that lasts as long as a garbage collector stops all threads of its
// virtual machine; recorded by a thread of the machine's own.
#ifndef JANKBOX_TRACER_EVENT_GC_PAUSE_NAME_H_
#define JANKBOX_TRACER_EVENT_GC_PAUSE_NAME_H_

namespace jankbox {

inline constexpr char kGcPauseName[] = "GC pause";

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_GC_PAUSE_NAME_H_

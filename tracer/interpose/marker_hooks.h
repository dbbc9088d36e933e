// Hooks the writes that may go to the kernel's trace_marker, in every module of the process: what
// is written there is recorded (tracer/atrace/marker_tap.h) and passed on as before.
#ifndef JANKBOX_TRACER_INTERPOSE_MARKER_HOOKS_H_
#define JANKBOX_TRACER_INTERPOSE_MARKER_HOOKS_H_

#include "tracer/atrace/marker_tap.h"
#include "tracer/hook/hook_set.h"

namespace jankbox {

// Adds the hooks. `record_writes`: those of watched threads that are no markers are recorded as
// file calls. On the thread that starts.
void AddMarkerHooks(MarkerMode mode, bool record_writes, HookSet* hooks);

// From now on markers go only to the kernel, even if a module still has a proxy.
void StopMarkerHooks();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_MARKER_HOOKS_H_

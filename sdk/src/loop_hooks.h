// Loops of libraries that the host uses anyway (android::Looper of libutils, GLib, libuv, …) as
// sources of dispatches, without a call by the host: the waits of those libraries are hooked in
// their own import tables, and the main thread's become dispatches. Started and stopped with the
// runtime; the patching itself happens on the watcher thread.
#ifndef JANKBOX_SDK_SRC_LOOP_HOOKS_H_
#define JANKBOX_SDK_SRC_LOOP_HOOKS_H_

#include "tracer/ring/ring_format.h"

namespace jankbox {

// Hooks what is loaded now; call it again after the host's modules changed. Does nothing where the
// preload agent already stands in front of all waits. Takes the loader's lock.
void RefreshLoopHooks(RingHeader* ring);

// Restores the import tables, where they still hold our hooks.
void StopLoopHooks();

}  // namespace jankbox

#endif  // JANKBOX_SDK_SRC_LOOP_HOOKS_H_

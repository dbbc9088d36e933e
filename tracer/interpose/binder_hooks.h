// Calls of other processes by watched threads (tracer/interpose/binder_proxies.h): hooks ioctl()
// in Android's binder libraries. Nothing on Linux.
#ifndef JANKBOX_TRACER_INTERPOSE_BINDER_HOOKS_H_
#define JANKBOX_TRACER_INTERPOSE_BINDER_HOOKS_H_

#include "tracer/hook/hook_set.h"

namespace jankbox {

// On the thread that starts, before recording begins.
void AddBinderHooks(HookSet* hooks);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_BINDER_HOOKS_H_

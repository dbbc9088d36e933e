// Calls of other processes by watched threads (tracer/source/binder_proxies.h): hooks ioctl() where
// Android's binder libraries import it. Nothing on Linux.
#ifndef JANKBOX_SDK_SRC_BINDER_HOOKS_H_
#define JANKBOX_SDK_SRC_BINDER_HOOKS_H_

#include "sdk/src/hook_set.h"

namespace jankbox {

// On the thread that starts, before recording begins.
void AddBinderHooks(HookSet* hooks);

}  // namespace jankbox

#endif  // JANKBOX_SDK_SRC_BINDER_HOOKS_H_

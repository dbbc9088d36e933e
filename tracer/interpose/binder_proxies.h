// Calls of other processes by the threads that are watched: a proxy of ioctl() that sees what
// libbinder asks of the driver. A transaction that has a reply is a wait, from the ioctl that sends
// it to the one that brings the reply; if that takes several (older kernels return in between,
// and a thread serves calls while it waits) there are several waits of one name. One-way calls are
// none. Names no symbol of libbinder. Hooked by tracer/interpose/binder_hooks_android.cc.
#ifndef JANKBOX_TRACER_INTERPOSE_BINDER_PROXIES_H_
#define JANKBOX_TRACER_INTERPOSE_BINDER_PROXIES_H_

#include <span>

#include "tracer/hook/hook_use.h"

namespace jankbox {

std::span<const HookUse> BinderHooks();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_BINDER_PROXIES_H_

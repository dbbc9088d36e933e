// Creation, names and ends of all threads of the app. A thread is started through a function of
// ours, which says its tid and calls the app's: the new thread is in no other thread's hands then,
// and no structure of the C library has to be guessed. See
// tracer/hook/hook_use.h.
#ifndef JANKBOX_TRACER_INTERPOSE_THREAD_PROXIES_H_
#define JANKBOX_TRACER_INTERPOSE_THREAD_PROXIES_H_

#include <span>

#include "tracer/hook/hook_use.h"

namespace jankbox {

std::span<const HookUse> ThreadHooks();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_THREAD_PROXIES_H_

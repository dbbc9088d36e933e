// The ends of the process that call no destructor (_exit, exec) and those that it asks for with a
// signal (abort, raise): each is noted in the ring's header, which the death of the process leaves
// behind. exec notes an end and takes it back if it fails. No signal handler is involved. See
// tracer/hook/hook_use.h.
#ifndef JANKBOX_TRACER_INTERPOSE_END_PROXIES_H_
#define JANKBOX_TRACER_INTERPOSE_END_PROXIES_H_

#include <span>

#include "tracer/hook/hook_use.h"

namespace jankbox {

std::span<const HookUse> EndHooks();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_END_PROXIES_H_

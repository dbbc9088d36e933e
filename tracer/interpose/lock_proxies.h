// Waits of watched threads for mutexes, read-write locks, conditions, semaphores, other threads and
// raw futexes. Each proxy makes exactly one call, the one that it was called for: whether a lock is
// held is peeked at before, so a free lock records nothing and the rules of robust, recursive,
// priority and error-checking mutexes are the C library's alone. See tracer/hook/hook_use.h.
#ifndef JANKBOX_TRACER_INTERPOSE_LOCK_PROXIES_H_
#define JANKBOX_TRACER_INTERPOSE_LOCK_PROXIES_H_

#include <span>

#include "tracer/hook/hook_use.h"

namespace jankbox {

std::span<const HookUse> LockHooks();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_LOCK_PROXIES_H_

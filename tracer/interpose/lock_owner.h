// Who holds what a thread waits for in futex(2), from the word that it waits on: mutexes and
// read-write locks of the C library, priority-inheriting futexes, threads that are joined. A guess
// that the caller holds against the threads that there are; memory that is gone reads as no owner.
// THREAD-SAFE, NO-ALLOC.
#ifndef JANKBOX_TRACER_INTERPOSE_LOCK_OWNER_H_
#define JANKBOX_TRACER_INTERPOSE_LOCK_OWNER_H_

#include <cstdint>

namespace jankbox {

// The first three arguments of the call.
struct FutexWait {
  uint64_t address = 0;
  uint32_t operation = 0;
  uint32_t value = 0;
};

// 0 if its owner is not known, or it is no wait at all.
int32_t OwnerOfFutex(const FutexWait& wait);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_LOCK_OWNER_H_

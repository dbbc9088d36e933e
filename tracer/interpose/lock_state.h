// The state of a lock of the C library, read from outside: whether it is held just now, and its
// owner, read from its memory without touching it. A guess by the time it is used: it decides what
// is recorded, never what is done. HOT: NO-ALLOC, SIGNAL-SAFE, no system call but if stated.
#ifndef JANKBOX_TRACER_INTERPOSE_LOCK_STATE_H_
#define JANKBOX_TRACER_INTERPOSE_LOCK_STATE_H_

#include <pthread.h>
#include <semaphore.h>

#include <cstdint>

namespace jankbox {

struct LockState {
  bool held = false;      // taking it now would wait (or fail)
  int32_t owner_tid = 0;  // 0: not known
};

// One system call if a recursive mutex is held: by its holder it is taken again at once.
LockState PeekMutex(const pthread_mutex_t* mutex);
LockState PeekReadLock(const pthread_rwlock_t* lock);
LockState PeekWriteLock(const pthread_rwlock_t* lock);
LockState PeekSemaphore(sem_t* semaphore);

// REQUIRES a `thread` that may be passed to pthread_join(). 0 if it has ended.
int32_t TidOfThread(pthread_t thread);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_LOCK_STATE_H_

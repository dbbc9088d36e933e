// bionic keeps its locks private. What all versions share is the lock state in the two lowest bits
// of a mutex: 0 free, 1 held, 2 held and waited for. Owners, and read-write locks, are unknown.
#include "tracer/interpose/lock_state.h"

namespace jankbox {

LockState PeekMutex(const pthread_mutex_t* mutex) {
  const auto* word = reinterpret_cast<const uint32_t*>(mutex);
  const uint32_t state = __atomic_load_n(word, __ATOMIC_RELAXED) & 3;
  return {state == 1 || state == 2, 0};
}

LockState PeekReadLock(const pthread_rwlock_t* /*lock*/) { return {}; }

LockState PeekWriteLock(const pthread_rwlock_t* /*lock*/) { return {}; }

LockState PeekSemaphore(sem_t* semaphore) {
  int value = 0;
  return {sem_getvalue(semaphore, &value) == 0 && value <= 0, 0};
}

int32_t TidOfThread(pthread_t thread) { return pthread_gettid_np(thread); }

}  // namespace jankbox

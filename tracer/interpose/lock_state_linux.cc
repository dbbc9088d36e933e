// The fields are those of glibc's static initialisers (bits/struct_mutex.h, bits/struct_rwlock.h),
// which are ABI.
#include "base/own_thread.h"
#include "tracer/interpose/lock_state.h"

namespace jankbox {
namespace {

constexpr int kMutexTypeMask = 3;  // PTHREAD_MUTEX_KIND_MASK_NP: without robust, inherit, protect

// Of __readers (nptl/pthread_rwlock_common.c).
constexpr unsigned kWriteLocked = 2;
constexpr unsigned kReaderShift = 3;

template <typename Field>
Field Peek(const Field& field) {
  return __atomic_load_n(&field, __ATOMIC_RELAXED);
}

}  // namespace

LockState PeekMutex(const pthread_mutex_t* mutex) {
  const int owner = Peek(mutex->__data.__owner);
  if (owner == 0) {
    // Held, but its holder has not signed yet (or never does). A ceiling is in the upper bits.
    constexpr int kPlainStates = 3;
    return {(Peek(mutex->__data.__lock) & kPlainStates) != 0 &&
                (Peek(mutex->__data.__kind) & ~(kMutexTypeMask | 128)) == 0,
            0};
  }
  const bool recursive =
      (Peek(mutex->__data.__kind) & kMutexTypeMask) == PTHREAD_MUTEX_RECURSIVE_NP;
  if (recursive && owner == CurrentTid()) return {};
  return {true, owner > 0 && owner < INT32_MAX ? owner : 0};
}

LockState PeekReadLock(const pthread_rwlock_t* lock) {
  if ((Peek(lock->__data.__readers) & kWriteLocked) == 0) return {};
  return {true, Peek(lock->__data.__cur_writer)};
}

LockState PeekWriteLock(const pthread_rwlock_t* lock) {
  const unsigned readers = Peek(lock->__data.__readers);
  if ((readers & kWriteLocked) == 0 && readers >> kReaderShift == 0) return {};
  return {true, Peek(lock->__data.__cur_writer)};
}

LockState PeekSemaphore(sem_t* semaphore) {
  int value = 0;
  return {sem_getvalue(semaphore, &value) == 0 && value <= 0, 0};
}

// A thread's CPU clock is named after its tid (include/linux/posix-timers_types.h): the low three
// bits say what it counts, the rest is the tid's complement.
int32_t TidOfThread(pthread_t thread) {
  if (pthread_equal(thread, pthread_self())) return CurrentTid();
  clockid_t clock = 0;
  if (pthread_getcpuclockid(thread, &clock) != 0) return 0;
  return ~(clock >> 3);
}

}  // namespace jankbox

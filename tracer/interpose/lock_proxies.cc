#include "tracer/interpose/lock_proxies.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>

#include "tracer/interpose/lock_state.h"
#include "tracer/interpose/wait_scope.h"

namespace jankbox {
namespace {

using Hook = HookedBy<HookFeature::kLocks>;

// The call `real(lock, rest...)`, recorded if `peek` says that it would wait.
template <typename Function, typename Peek, typename Lock, typename... Rest>
inline int TakeLock(Function* real, WaitClass what, Peek peek, Lock* lock, Rest... rest) {
  if (__builtin_expect(!RecordsWaits(), 1)) return real(lock, rest...);
  const LockState state = peek(lock);
  if (!state.held) return real(lock, rest...);
  const WaitScope wait(what, state.owner_tid);
  return wait.Returned(real(lock, rest...));
}

int MutexProxy(pthread_mutex_t* mutex) {
  return TakeLock(Hook::Original<HookId::kMutexLock, int(pthread_mutex_t*)>(), WaitClass::kMutex,
                  PeekMutex, mutex);
}

int TimedMutexProxy(pthread_mutex_t* mutex, const timespec* until) {
  return TakeLock(Hook::Original<HookId::kMutexTimedlock, int(pthread_mutex_t*, const timespec*)>(),
                  WaitClass::kMutex, PeekMutex, mutex, until);
}

int ClockMutexProxy(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  return TakeLock(
      Hook::Original<HookId::kMutexClocklock, int(pthread_mutex_t*, clockid_t, const timespec*)>(),
      WaitClass::kMutex, PeekMutex, mutex, clock, until);
}

int ReadLockProxy(pthread_rwlock_t* lock) {
  return TakeLock(Hook::Original<HookId::kRwlockRdlock, int(pthread_rwlock_t*)>(),
                  WaitClass::kReadLock, PeekReadLock, lock);
}

int TimedReadLockProxy(pthread_rwlock_t* lock, const timespec* until) {
  return TakeLock(
      Hook::Original<HookId::kRwlockTimedrdlock, int(pthread_rwlock_t*, const timespec*)>(),
      WaitClass::kReadLock, PeekReadLock, lock, until);
}

int WriteLockProxy(pthread_rwlock_t* lock) {
  return TakeLock(Hook::Original<HookId::kRwlockWrlock, int(pthread_rwlock_t*)>(),
                  WaitClass::kWriteLock, PeekWriteLock, lock);
}

int TimedWriteLockProxy(pthread_rwlock_t* lock, const timespec* until) {
  return TakeLock(
      Hook::Original<HookId::kRwlockTimedwrlock, int(pthread_rwlock_t*, const timespec*)>(),
      WaitClass::kWriteLock, PeekWriteLock, lock, until);
}

// A thread that is cancelled in here leaves the wait open: it ends with the thread.
template <typename Function, typename... Rest>
inline int WaitForCondition(Function* real, pthread_cond_t* condition, pthread_mutex_t* mutex,
                            Rest... rest) {
  if (__builtin_expect(!RecordsWaits(), 1)) return real(condition, mutex, rest...);
  const WaitScope wait(WaitClass::kCondition, 0);
  return wait.Returned(real(condition, mutex, rest...));
}

int ConditionProxy(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  return WaitForCondition(
      Hook::Original<HookId::kCondWait, int(pthread_cond_t*, pthread_mutex_t*)>(), condition,
      mutex);
}

int TimedConditionProxy(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* until) {
  return WaitForCondition(Hook::Original<HookId::kCondTimedwait,
                                         int(pthread_cond_t*, pthread_mutex_t*, const timespec*)>(),
                          condition, mutex, until);
}

int ClockConditionProxy(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                        const timespec* until) {
  return WaitForCondition(
      Hook::Original<HookId::kCondClockwait,
                     int(pthread_cond_t*, pthread_mutex_t*, clockid_t, const timespec*)>(),
      condition, mutex, clock, until);
}

// The same for semaphores, whose errors are in errno.
template <typename Function, typename... Rest>
inline int TakeSemaphore(Function* real, sem_t* semaphore, Rest... rest) {
  if (__builtin_expect(!RecordsWaits(), 1)) return real(semaphore, rest...);
  if (!PeekSemaphore(semaphore).held) return real(semaphore, rest...);
  const WaitScope wait(WaitClass::kSemaphore, 0);
  return wait.ReturnedWithErrno(real(semaphore, rest...));
}

int SemaphoreProxy(sem_t* semaphore) {
  return TakeSemaphore(Hook::Original<HookId::kSemWait, int(sem_t*)>(), semaphore);
}

int TimedSemaphoreProxy(sem_t* semaphore, const timespec* until) {
  return TakeSemaphore(Hook::Original<HookId::kSemTimedwait, int(sem_t*, const timespec*)>(),
                       semaphore, until);
}

int ClockSemaphoreProxy(sem_t* semaphore, clockid_t clock, const timespec* until) {
  return TakeSemaphore(
      Hook::Original<HookId::kSemClockwait, int(sem_t*, clockid_t, const timespec*)>(), semaphore,
      clock, until);
}

int JoinProxy(pthread_t thread, void** result) {
  auto* real = Hook::Original<HookId::kPthreadJoin, int(pthread_t, void**)>();
  if (__builtin_expect(!RecordsWaits(), 1)) return real(thread, result);
  const WaitScope wait(WaitClass::kJoin, TidOfThread(thread));
  return wait.Returned(real(thread, result));
}

// A futex call that sleeps until another tool wakes it.
bool IsFutexWait(long number, long operation) {
#if defined(SYS_futex_waitv)
  if (number == SYS_futex_waitv) return true;
#endif
  if (number != SYS_futex) return false;
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_WAIT_REQUEUE_PI:
    case FUTEX_LOCK_PI:
#if defined(FUTEX_LOCK_PI2)
    case FUTEX_LOCK_PI2:
#endif
      return true;
    default:
      return false;
  }
}

// Of the calls that wait, those that wait for a lock and nothing else.
bool LocksFutex(long number, long operation) {
  if (number != SYS_futex) return false;
#if defined(FUTEX_LOCK_PI2)
  if ((operation & FUTEX_CMD_MASK) == FUTEX_LOCK_PI2) return true;
#endif
  return (operation & FUTEX_CMD_MASK) == FUTEX_LOCK_PI;
}

// syscall() takes as many arguments as the call has. On every machine that we run on the first six
// after the number are passed alike whether the callee is variadic or not.
long SyscallProxy(long number, long a, long b, long c, long d, long e, long f) {
  auto* real = Hook::Original<HookId::kSyscall, long(long, ...)>();
  if (__builtin_expect(!IsFutexWait(number, b) || !RecordsWaits(), 1)) {
    return real(number, a, b, c, d, e, f);
  }
  const WaitScope wait(LocksFutex(number, b) ? WaitClass::kMutex : WaitClass::kFutex, 0);
  return wait.ReturnedWithErrno(real(number, a, b, c, d, e, f));
}

}  // namespace

std::span<const HookUse> LockHooks() {
  static const HookUse hooks[] = {
      Hook::Use<HookId::kMutexLock>(MutexProxy, IsOfTheApp),
      Hook::Use<HookId::kMutexTimedlock>(TimedMutexProxy, IsOfTheApp),
      Hook::Use<HookId::kMutexClocklock>(ClockMutexProxy, IsOfTheApp),
      Hook::Use<HookId::kRwlockRdlock>(ReadLockProxy, IsOfTheApp),
      Hook::Use<HookId::kRwlockTimedrdlock>(TimedReadLockProxy, IsOfTheApp),
      Hook::Use<HookId::kRwlockWrlock>(WriteLockProxy, IsOfTheApp),
      Hook::Use<HookId::kRwlockTimedwrlock>(TimedWriteLockProxy, IsOfTheApp),
      Hook::Use<HookId::kCondWait>(ConditionProxy, IsOfTheApp),
      Hook::Use<HookId::kCondTimedwait>(TimedConditionProxy, IsOfTheApp),
      Hook::Use<HookId::kCondClockwait>(ClockConditionProxy, IsOfTheApp),
      Hook::Use<HookId::kSemWait>(SemaphoreProxy, IsOfTheApp),
      Hook::Use<HookId::kSemTimedwait>(TimedSemaphoreProxy, IsOfTheApp),
      Hook::Use<HookId::kSemClockwait>(ClockSemaphoreProxy, IsOfTheApp),
      Hook::Use<HookId::kPthreadJoin>(JoinProxy, IsOfTheApp),
      Hook::Use<HookId::kSyscall>(SyscallProxy, IsOfTheApp),
  };
  return hooks;
}

}  // namespace jankbox

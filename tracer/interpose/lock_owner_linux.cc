// glibc's locks: what their futex words are and which values are waited for
// (nptl/lowlevellock.h, pthread_mutex_lock.c, pthread_rwlock_common.c, pthread_join_common.c).
#include <linux/futex.h>
#include <pthread.h>

#include <cstddef>

#include "tracer/interpose/lock_owner.h"
#include "tracer/interpose/lock_state.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox {
namespace {

constexpr uint32_t kMutexWaited = 2;   // of __lock: held, and a thread waits
constexpr uint32_t kRwlockWaited = 3;  // a write phase, and a thread waits
constexpr int kKnownMutexKinds = 0x3ff;

template <typename T>
bool Copy(uint64_t address, T* into) {
  return ReadRecordedMemory(address, into, sizeof(T)) == sizeof(T);
}

int32_t OwnerOfMutex(uint64_t address) {
  pthread_mutex_t mutex;
  if (!Copy(address - offsetof(pthread_mutex_t, __data.__lock), &mutex)) return 0;
  if ((mutex.__data.__kind & ~kKnownMutexKinds) != 0) return 0;
  return mutex.__data.__owner;
}

// Readers wait on __wrphase_futex, writers on __writers_futex too.
int32_t OwnerOfRwlock(uint64_t address) {
  for (const size_t offset : {offsetof(pthread_rwlock_t, __data.__wrphase_futex),
                              offsetof(pthread_rwlock_t, __data.__writers_futex)}) {
    pthread_rwlock_t lock;
    if (!Copy(address - offset, &lock)) continue;
    const LockState state = PeekReadLock(&lock);
    if (state.held && state.owner_tid > 0) return state.owner_tid;
  }
  return 0;
}

}  // namespace

int32_t OwnerOfFutex(const FutexWait& wait) {
  uint32_t word = 0;
  if (!Copy(wait.address, &word)) return 0;
  switch (wait.operation & FUTEX_CMD_MASK) {
    case FUTEX_LOCK_PI:
#if defined(FUTEX_LOCK_PI2)
    case FUTEX_LOCK_PI2:
#endif
      return static_cast<int32_t>(word & FUTEX_TID_MASK);
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
      break;
    default:
      return 0;
  }
  if (word != wait.value) return 0;  // it is being given up just now
  if (word == kMutexWaited) return OwnerOfMutex(wait.address);
  if (word == kRwlockWaited) return OwnerOfRwlock(wait.address);
  // A robust mutex has its owner in the word; so has a thread that is joined, whose word the kernel
  // clears, which takes a futex that is not private.
  const bool robust = (word & FUTEX_WAITERS) != 0;
  const bool joined = (wait.operation & FUTEX_PRIVATE_FLAG) == 0;
  return robust || joined ? static_cast<int32_t>(word & FUTEX_TID_MASK) : 0;
}

}  // namespace jankbox

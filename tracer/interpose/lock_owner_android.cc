// bionic's plain mutexes do not know their owners (lock_state_android.cc); the kernel's
// priority-inheriting futexes do.
#include <linux/futex.h>

#include "tracer/interpose/lock_owner.h"
#include "tracer/unwind/safe_memory.h"

namespace jankbox {

int32_t OwnerOfFutex(const FutexWait& wait) {
  uint32_t word = 0;
  if ((wait.operation & FUTEX_CMD_MASK) != FUTEX_LOCK_PI) return 0;
  if (ReadOwnMemory(wait.address, &word, sizeof(word)) != sizeof(word)) return 0;
  return static_cast<int32_t>(word & FUTEX_TID_MASK);
}

}  // namespace jankbox

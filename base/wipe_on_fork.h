// Memory that is all zero in a forked child, whatever made the child: fork(), _Fork() or clone().
// Handlers of pthread_atfork() run for the first of these only.
#ifndef JANKBOX_BASE_WIPE_ON_FORK_H_
#define JANKBOX_BASE_WIPE_ON_FORK_H_

#include <sys/mman.h>

#include <cstddef>

namespace jankbox {

// Zeroed whole pages; null if there is no memory. `wiped` is false before Linux 4.14: there the
// child sees what its parent wrote.
inline void* MapWipedOnFork(size_t bytes, bool* wiped) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
#if defined(MADV_WIPEONFORK)
  *wiped = madvise(memory, bytes, MADV_WIPEONFORK) == 0;
#else
  *wiped = false;
#endif
  return memory;
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_WIPE_ON_FORK_H_

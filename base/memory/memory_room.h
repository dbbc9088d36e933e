// For the step before a call into a library that does not bear a failed malloc, or that has data of
// its own for each thread. Header-only: the preload agent needs it and nothing else. Jankbox's own
// threads, and the agent's constructor: allocates.
#ifndef JANKBOX_BASE_MEMORY_MEMORY_ROOM_H_
#define JANKBOX_BASE_MEMORY_MEMORY_ROOM_H_

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>

#ifdef __GLIBC__
// Of the loader; no header declares it. What it is given names a module and an offset.
extern "C" void* __tls_get_addr(void* index);
#endif

namespace jankbox {

// Whether malloc has `bytes` more, in blocks that are small enough to be of the thread's arena: one
// large block could be mapped where the arena cannot grow any more. Another thread may take it all
// before the caller does.
inline bool HasMemory(size_t bytes) {
  constexpr size_t kBlockBytes = 64 << 10;
  struct Block {
    Block* next;
  };
  Block* volatile blocks = nullptr;  // volatile: or the compiler leaves malloc out
  bool enough = true;
  for (size_t taken = 0; taken < bytes; taken += kBlockBytes) {
    Block* const block = static_cast<Block*>(malloc(kBlockBytes));
    enough = block != nullptr;
    if (!enough) break;
    block->next = blocks;
    blocks = block;
  }
  while (blocks != nullptr) {
    Block* const next = blocks->next;
    free(blocks);
    blocks = next;
  }
  return enough;
}

// Whether the calling thread has `library`'s (a handle of dlopen's) thread-local data. glibc makes
// it when the thread first asks for it, and ends the process if malloc fails then; this asks for
// it where there is memory.
inline bool HasThreadData(void* library) {
#ifdef __GLIBC__
  struct {
    unsigned long module;
    unsigned long offset;
  } index = {0, 0};
  if (dlinfo(library, RTLD_DI_TLS_MODID, &index.module) != 0 || index.module == 0) return true;
  void* data = nullptr;
  if (dlinfo(library, RTLD_DI_TLS_DATA, &data) == 0 && data != nullptr) return true;
  constexpr size_t kNeededBytes = 64 << 10;
  if (!HasMemory(kNeededBytes)) return false;
  return __tls_get_addr(&index) != nullptr;
#else
  (void)library;
  return true;
#endif
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_MEMORY_MEMORY_ROOM_H_

// Opens a shared library so that its symbols and the host's never meet (RTLD_LOCAL and, on glibc,
// RTLD_DEEPBIND): libunwind exports _Unwind_*, hosts export what they please. Libraries stay loaded
// for the life of the process. Header-only: the preload agent needs it and nothing else. Jankbox's
// own threads, and the agent's constructor: takes the loader's lock, allocates.
#ifndef JANKBOX_BASE_PRIVATE_LIBRARY_H_
#define JANKBOX_BASE_PRIVATE_LIBRARY_H_

#include <dlfcn.h>
#include <errno.h>

#include "base/loader_use.h"
#include "base/memory/memory_room.h"

namespace jankbox {

// Whether malloc is not libc's own (jemalloc, tcmalloc, a sanitizer): a library that is bound to
// libc first would free with libc what the replacement allocated, and a sanitizer's runtime ends
// the process at an RTLD_DEEPBIND.
inline bool MallocIsReplaced() {
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  if (libc == nullptr) return true;
  const bool replaced = dlsym(libc, "malloc") != dlsym(RTLD_DEFAULT, "malloc");
  dlclose(libc);
  return replaced;
}

// The library's handle, or null: NoMemoryForLibrary(), or it is not installed.
inline void* OpenPrivateLibrary(const char* name) {
  // The C library's dlopen() may keep its lock for ever if its malloc fails while it takes back
  // what it had loaded of a library's needs.
  constexpr size_t kLoaderBytes = 1 << 20;
  if (!HasMemory(kLoaderBytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  LoaderUse use;
  int flags = RTLD_NOW | RTLD_LOCAL;
#ifdef RTLD_DEEPBIND
  if (!MallocIsReplaced()) flags |= RTLD_DEEPBIND;
#endif
  void* const library = dlopen(name, flags);
  if (library == nullptr) errno = ENOENT;
  return library;
}

// Whether the calling thread's OpenPrivateLibrary() failed just now for want of memory: it may
// succeed later.
inline bool NoMemoryForLibrary() { return errno == ENOMEM; }

// Why it failed, after the library's name.
inline const char* NotOpenedText() {
  return NoMemoryForLibrary() ? " cannot be loaded: no memory" : " is not installed";
}

// Sets `*function` to `name` of `library`; false if it has none.
template <typename Function>
bool BindSymbol(void* library, const char* name, Function** function) {
  LoaderUse use;
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_PRIVATE_LIBRARY_H_

// Opens a shared library so that its symbols and the host's never meet (RTLD_LOCAL and, on glibc,
// RTLD_DEEPBIND): libunwind exports _Unwind_*, hosts export what they please. Jankbox's own threads
// only: takes the loader's lock, allocates. Libraries stay loaded for the life of the process.
#ifndef JANKBOX_TRACER_SAMPLING_PRIVATE_LIBRARY_H_
#define JANKBOX_TRACER_SAMPLING_PRIVATE_LIBRARY_H_

#include <dlfcn.h>

namespace jankbox {

// The library's handle, or null where it is not installed.
void* OpenPrivateLibrary(const char* soname);

// Sets `*function` to `name` of `library`; false where it has none.
template <typename Function>
bool BindSymbol(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
  return *function != nullptr;
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_PRIVATE_LIBRARY_H_

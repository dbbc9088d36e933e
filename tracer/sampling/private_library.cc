#include "tracer/sampling/private_library.h"

namespace jankbox {

void* OpenPrivateLibrary(const char* soname) {
  int flags = RTLD_NOW | RTLD_LOCAL;
#ifdef RTLD_DEEPBIND
  // A sanitizer's runtime ends the process at an RTLD_DEEPBIND; it may be the host's alone, so it
  // is looked for at run time.
  if (dlsym(RTLD_DEFAULT, "__sanitizer_set_report_path") == nullptr) flags |= RTLD_DEEPBIND;
#endif
  return dlopen(soname, flags);
}

}  // namespace jankbox

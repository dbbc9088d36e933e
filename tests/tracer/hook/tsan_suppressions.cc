// TSan does not see the locks of glibc's loader: what that allocates in one thread's dlopen() and
// frees in another's dlclose() (elf/rtld-malloc.h) is no race. Nothing of ours is left out.
#if defined(__SANITIZE_THREAD__)
extern "C" const char* __tsan_default_suppressions();
const char* __tsan_default_suppressions() { return "race:rtld-malloc.h\n"; }
#endif

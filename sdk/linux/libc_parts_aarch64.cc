// The functions that start files and the static part of glibc would define in this library.
// Debian's are not marked as built with branch target identification (docs/decisions: one Android
// library).
using Handler = void (*)();

extern "C" {
int __register_atfork(Handler prepare, Handler parent, Handler child, void* library);
int __cxa_at_quick_exit(void (*handler)(void*), void* library);

// Names this library to __cxa_atexit.
__attribute__((visibility("hidden"))) void* __dso_handle = &__dso_handle;

__attribute__((visibility("hidden"))) int pthread_atfork(Handler prepare, Handler parent,
                                                         Handler child) {
  return __register_atfork(prepare, parent, child, __dso_handle);
}

// The handler is called without an argument that it would read.
__attribute__((visibility("hidden"))) int at_quick_exit(Handler handler) {
  return __cxa_at_quick_exit(reinterpret_cast<void (*)(void*)>(handler), __dso_handle);
}
}

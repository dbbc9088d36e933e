// What names this library to __cxa_atexit, as the compiler's start files would define it.
extern "C" {
__attribute__((visibility("hidden"))) void* __dso_handle = &__dso_handle;
}

// The C library's errno.h, with errno if bionic has it. For tools/checks/check_android alone.
#ifndef JANKBOX_TESTS_ANDROID_INCLUDE_ERRNO_H_
#define JANKBOX_TESTS_ANDROID_INCLUDE_ERRNO_H_

#include_next <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

int* __errno(void) __attribute__((const));

#ifdef __cplusplus
}
#endif

#undef errno
#define errno (*__errno())

#endif  // JANKBOX_TESTS_ANDROID_INCLUDE_ERRNO_H_

// The C library's pthread.h, and what bionic adds to it. For tools/checks/check_android alone.
#ifndef JANKBOX_TESTS_ANDROID_INCLUDE_PTHREAD_H_
#define JANKBOX_TESTS_ANDROID_INCLUDE_PTHREAD_H_

#include_next <pthread.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

pid_t pthread_gettid_np(pthread_t thread);

#ifdef __cplusplus
}
#endif

#endif  // JANKBOX_TESTS_ANDROID_INCLUDE_PTHREAD_H_

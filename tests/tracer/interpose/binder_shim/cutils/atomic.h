// libcutils' atomics, as far as libbinder names them: Debian's header wants libc++'s <stdatomic.h>.
#ifndef JANKBOX_TESTS_TRACER_INTERPOSE_BINDER_SHIM_CUTILS_ATOMIC_H_
#define JANKBOX_TESTS_TRACER_INTERPOSE_BINDER_SHIM_CUTILS_ATOMIC_H_

#include <stdint.h>

inline int32_t android_atomic_add(int32_t value, volatile int32_t* at) {
  return __atomic_fetch_add(at, value, __ATOMIC_SEQ_CST);
}
inline int32_t android_atomic_inc(volatile int32_t* at) { return android_atomic_add(1, at); }
inline int32_t android_atomic_dec(volatile int32_t* at) { return android_atomic_add(-1, at); }
inline int32_t android_atomic_or(int32_t value, volatile int32_t* at) {
  return __atomic_fetch_or(at, value, __ATOMIC_SEQ_CST);
}

#endif  // JANKBOX_TESTS_TRACER_INTERPOSE_BINDER_SHIM_CUTILS_ATOMIC_H_

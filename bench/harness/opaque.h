// Keeps the optimizer honest: what a kernel computes is used, and what is between two of its
// steps may touch any memory, as an app's code between two events does. HOT; header-only.
#ifndef JANKBOX_BENCH_HARNESS_OPAQUE_H_
#define JANKBOX_BENCH_HARNESS_OPAQUE_H_

#include <cstdint>

// A kernel is a function of its own, at an address of its own line.
#define JANKBOX_BENCH_KERNEL __attribute__((noinline, aligned(64)))

namespace jankbox::bench {

inline void Use(uint64_t value) { asm volatile("" : : "r"(value)); }
inline void UnknownCode() { asm volatile("" : : : "memory"); }

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_OPAQUE_H_

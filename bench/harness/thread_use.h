// What the threads of a program have used so far, Jankbox's own apart. Reads /proc. One thread.
#ifndef JANKBOX_BENCH_HARNESS_THREAD_USE_H_
#define JANKBOX_BENCH_HARNESS_THREAD_USE_H_

#include <sys/types.h>

#include <cstdint>

namespace jankbox::bench {

// Of the living threads of one kind.
struct Use {
  uint64_t wakes = 0;   // voluntary switches
  uint64_t run_ns = 0;  // by schedstat
};

struct ThreadUse {
  Use jankbox;  // and threads that are called "watchdog"
  Use program;
};

// Of a process and its children; zeros if it is gone.
ThreadUse ThreadUseOf(pid_t pid);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_THREAD_USE_H_

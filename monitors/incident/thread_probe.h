// What the kernel says of a thread right now, without touching it: CPU and run-queue time, times
// scheduled, and what it waits for. Keeps its /proc files open, so that a reading is three preads
// (about 15 us). Watcher thread; NO-ALLOC after Create.
#ifndef JANKBOX_MONITORS_INCIDENT_THREAD_PROBE_H_
#define JANKBOX_MONITORS_INCIDENT_THREAD_PROBE_H_

#include <cstdint>

#include "base/scoped_fd.h"

namespace jankbox {

// What a thread off the CPU waits for. kNone: it is on the CPU or wants one.
enum class WaitClass : uint8_t { kNone, kLock, kDisk, kSleeping, kBlocked, kUnknown };

struct ThreadReading {
  bool sched_known = false;  // the three below hold (schedstat is there)
  uint64_t run_ns = 0;       // on a CPU since the thread began
  uint64_t runnable_ns = 0;  // waiting for a CPU
  uint64_t switches = 0;     // times put on a CPU
  WaitClass wait = WaitClass::kUnknown;
  int32_t syscall = -1;  // that it is blocked in; -1: none or not known
  char state = '?';      // of /proc/self/task/TID/stat
};

// The class of a wait in system call `syscall` (-1: not known) whose first argument is
// `first_argument`, in scheduler state `state`: D and calls on regular files are disk, futexes
// locks, nanosleep sleep; everything else is blocked, reason not known.
WaitClass ClassifyWait(char state, int32_t syscall, uint64_t first_argument);

class ThreadProbe {
 public:
  explicit ThreadProbe(int32_t tid);
  ThreadReading Read() const;

 private:
  ScopedFd schedstat_;
  ScopedFd stat_;
  ScopedFd syscall_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_THREAD_PROBE_H_

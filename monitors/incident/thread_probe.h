// Reads the kernel's current data about a thread without disturbing it: CPU and run-queue time,
// times scheduled, and what it waits for. Keeps its /proc files open, so that a reading is three
// preads (about 15 us). Watcher thread; NO-ALLOC after Create.
#ifndef JANKBOX_MONITORS_INCIDENT_THREAD_PROBE_H_
#define JANKBOX_MONITORS_INCIDENT_THREAD_PROBE_H_

#include <cstdint>

#include "base/kept_fd.h"
#include "monitors/incident/wait_reason.h"

namespace jankbox {

struct ThreadReading {
  bool sched_known = false;   // the three below are valid (schedstat exists)
  uint64_t run_ns = 0;        // on a CPU since the thread began
  uint64_t runnable_ns = 0;   // waiting for a CPU
  uint64_t switches = 0;      // times put on a CPU
  uint64_t minor_faults = 0;  // page faults served from memory; 0 if not known
  WaitReason wait = WaitReason::kUnknown;
  StackSample::FdClass fd_class = StackSample::FdClass::kNone;  // that `syscall` waits on
  int32_t syscall = -1;        // that it is blocked in; -1: none or not known
  uint64_t arguments[2] = {};  // its first ones
  uint8_t peer = 0;  // that it waits for: a number of VerdictTimeline::Keep(); 0: not known
  struct {
    uint64_t address = 0;
    uint32_t operation = 0;
    uint32_t value = 0;
  } futex;                     // first arguments of a lock's futex(2); address 0: none
  char state = '?';            // of /proc/self/task/TID/stat
  int32_t lock_owner_tid = 0;  // of that lock; 0: not known
};

// The thread has not run between the two. False if that is not known.
inline bool IsSameWait(const ThreadReading& a, const ThreadReading& b) {
  return a.sched_known && b.sched_known && IsWait(a.wait) && IsWait(b.wait) &&
         a.syscall == b.syscall && a.arguments[0] == b.arguments[0] &&
         a.arguments[1] == b.arguments[1] && a.switches == b.switches;
}

class ThreadProbe {
 public:
  explicit ThreadProbe(int32_t tid);
  ThreadReading Read() const;
  char ReadState() const;  // as ThreadReading::state

 private:
  KeptFd schedstat_;
  KeptFd stat_;
  KeptFd syscall_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_THREAD_PROBE_H_

// The reason for which a thread is off the CPU, by its system call: the watcher's readings and
// recovered samples see no more. A lock that the C library gets after trying is FUTEX_WAIT, as are
// conditions and locks that GLib, Qt and others make themselves with syscall(); FUTEX_WAIT_BITSET
// is what conditions, semaphores, joins, read-write locks and timed mutexes use alike, so it says
// only that another thread is waited for. Pure functions; NO-ALLOC.
#ifndef JANKBOX_MONITORS_INCIDENT_WAIT_REASON_H_
#define JANKBOX_MONITORS_INCIDENT_WAIT_REASON_H_

#include <cstdint>

#include "tracer/unwind/stack_sample.h"

namespace jankbox {

// kNone: it is on the CPU or wants one. kDescriptor: a pipe, a socket, a set of them: another
// thread is at the other end, who is not known. kBlocked: off the CPU, nothing more.
enum class WaitReason : uint8_t {
  kNone,
  kLock,
  kThread,
  kDisk,
  kSleeping,
  kDescriptor,
  kBlocked,
  kUnknown,
};

// True if a wait was seen, whatever for.
inline constexpr bool IsWait(WaitReason reason) {
  return reason != WaitReason::kNone && reason != WaitReason::kUnknown;
}

struct BlockedCall {
  char state = '?';     // the scheduler's: R, S, D, …
  int32_t number = -1;  // of the system call; -1: none, or not known
  StackSample::FdClass fd_class = StackSample::FdClass::kNone;  // of its first argument
  uint64_t second_argument = 0;                                 // a futex's operation
  bool by_syscall = false;  // through syscall(): not by the C library's own locks
};

WaitReason ClassifyWait(const BlockedCall& call);

// "poll", "recvmsg", "clock_nanosleep", …; null for a call that is not in the table.
const char* SystemCallName(int32_t number);

// "a regular file", "a pipe", …; null for none.
const char* FdClassWords(uint32_t fd_class);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_WAIT_REASON_H_

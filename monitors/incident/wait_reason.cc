#include "monitors/incident/wait_reason.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <iterator>

namespace jankbox {
namespace {

using FdClass = StackSample::FdClass;

struct SystemCall {
  int32_t number;
  WaitReason reason;  // kBlocked: by the class of its descriptor
  char name[16];
};

constexpr SystemCall kSystemCalls[] = {
    {SYS_futex, WaitReason::kLock, "futex"},
#if defined(SYS_futex_waitv)
    {SYS_futex_waitv, WaitReason::kThread, "futex_waitv"},
#endif
#if defined(SYS_nanosleep)
    {SYS_nanosleep, WaitReason::kSleeping, "nanosleep"},
#endif
#if defined(SYS_clock_nanosleep)
    {SYS_clock_nanosleep, WaitReason::kSleeping, "clock_nanosleep"},
#endif
    {SYS_fsync, WaitReason::kDisk, "fsync"},
    {SYS_fdatasync, WaitReason::kDisk, "fdatasync"},
    {SYS_sync, WaitReason::kDisk, "sync"},
    {SYS_syncfs, WaitReason::kDisk, "syncfs"},
#if defined(SYS_sync_file_range)
    {SYS_sync_file_range, WaitReason::kDisk, "sync_file_range"},
#elif defined(SYS_sync_file_range2)  // ARM
    {SYS_sync_file_range2, WaitReason::kDisk, "sync_file_range"},
#endif
    {SYS_msync, WaitReason::kDisk, "msync"},
    {SYS_fallocate, WaitReason::kDisk, "fallocate"},
    {SYS_ftruncate, WaitReason::kDisk, "ftruncate"},
    {SYS_openat, WaitReason::kDisk, "openat"},
    {SYS_unlinkat, WaitReason::kDisk, "unlinkat"},
#if defined(SYS_open)
    {SYS_open, WaitReason::kDisk, "open"},
    {SYS_unlink, WaitReason::kDisk, "unlink"},
    {SYS_rename, WaitReason::kDisk, "rename"},
    {SYS_poll, WaitReason::kDescriptor, "poll"},
    {SYS_epoll_wait, WaitReason::kDescriptor, "epoll_wait"},
#endif
#if defined(SYS_select)
    {SYS_select, WaitReason::kDescriptor, "select"},
#endif
#if defined(SYS__newselect)  // 32-bit machines
    {SYS__newselect, WaitReason::kDescriptor, "select"},
#endif
    {SYS_ppoll, WaitReason::kDescriptor, "ppoll"},
    {SYS_pselect6, WaitReason::kDescriptor, "pselect"},
    {SYS_epoll_pwait, WaitReason::kDescriptor, "epoll_pwait"},
    {SYS_read, WaitReason::kBlocked, "read"},
    {SYS_write, WaitReason::kBlocked, "write"},
    {SYS_pread64, WaitReason::kBlocked, "pread"},
    {SYS_pwrite64, WaitReason::kBlocked, "pwrite"},
    {SYS_readv, WaitReason::kBlocked, "readv"},
    {SYS_writev, WaitReason::kBlocked, "writev"},
    {SYS_getdents64, WaitReason::kBlocked, "getdents"},
    {SYS_recvfrom, WaitReason::kBlocked, "recv"},
    {SYS_recvmsg, WaitReason::kBlocked, "recvmsg"},
    {SYS_sendto, WaitReason::kBlocked, "send"},
    {SYS_sendmsg, WaitReason::kBlocked, "sendmsg"},
    {SYS_accept4, WaitReason::kBlocked, "accept"},
    {SYS_connect, WaitReason::kBlocked, "connect"},
    {SYS_ioctl, WaitReason::kBlocked, "ioctl"},
    {SYS_flock, WaitReason::kBlocked, "flock"},
    {SYS_wait4, WaitReason::kBlocked, "wait4"},
    {SYS_waitid, WaitReason::kBlocked, "waitid"},
};

const SystemCall* Find(int32_t number) {
  for (const SystemCall& call : kSystemCalls) {
    if (call.number == number) return &call;
  }
  return nullptr;
}

// A wait that only FUTEX_WAIT and the priority-inheriting locks have is one for a lock.
bool IsLockOperation(const BlockedCall& blocked) {
  const uint64_t command = blocked.second_argument & FUTEX_CMD_MASK;
  if (command == FUTEX_WAIT && blocked.by_syscall) return false;
  return command != FUTEX_WAIT_BITSET && command != FUTEX_WAIT_REQUEUE_PI;
}

// ioctl and flock wait on a file for other things than its disk.
bool ReadsOrWrites(int32_t number) { return number != SYS_ioctl && number != SYS_flock; }

}  // namespace

WaitReason ClassifyWait(const BlockedCall& blocked) {
  const SystemCall* call = Find(blocked.number);
  const WaitReason reason = call == nullptr ? WaitReason::kBlocked : call->reason;
  if (reason == WaitReason::kLock) {
    return IsLockOperation(blocked) ? WaitReason::kLock : WaitReason::kThread;
  }
  if (reason == WaitReason::kSleeping || reason == WaitReason::kThread) return reason;
  if (blocked.state == 'D') return WaitReason::kDisk;
  if (reason != WaitReason::kBlocked) return reason;
  switch (blocked.fd_class) {
    case FdClass::kFile:
      return ReadsOrWrites(blocked.number) ? WaitReason::kDisk : WaitReason::kBlocked;
    case FdClass::kPipe:
    case FdClass::kSocket:
    case FdClass::kEvent:
      return WaitReason::kDescriptor;
    case FdClass::kNone:
    case FdClass::kOther:
      break;
  }
  return WaitReason::kBlocked;
}

const char* SystemCallName(int32_t number) {
  const SystemCall* call = Find(number);
  return call == nullptr ? nullptr : call->name;
}

const char* FdClassWords(uint32_t fd_class) {
  static constexpr const char* kWords[] = {nullptr,    "a regular file",      "a pipe",
                                           "a socket", "an event descriptor", nullptr};
  return fd_class < std::size(kWords) ? kWords[fd_class] : nullptr;
}

}  // namespace jankbox

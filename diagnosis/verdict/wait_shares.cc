#include "diagnosis/verdict/wait_shares.h"

#include <sys/syscall.h>

#include "tracer/ring/wait_record.h"

namespace jankbox {
namespace {

using FdClass = StackSample::FdClass;

constexpr char kCondition[] = "waiting for a condition";
constexpr char kSemaphore[] = "waiting for a semaphore";
constexpr char kJoin[] = "waiting for a thread to end";
constexpr char kFutex[] = "waiting for a lock (futex)";
constexpr char kAnotherThread[] = "waiting for another thread (futex)";
constexpr char kDirectory[] = "a directory";
constexpr char kStopped[] = "stopped by a signal or a debugger";
constexpr char kWokenByProcess[] = "waiting until another process woke it";

bool HasAnotherEnd(FdClass fd_class) {
  return fd_class == FdClass::kPipe || fd_class == FdClass::kSocket || fd_class == FdClass::kEvent;
}

VerdictShare ShareOfFileCall(const WaitEvent& call, bool woken_by_process) {
  VerdictShare share{.cause = VerdictCause::kDisk, .source = VerdictSource::kHooks};
  const auto fd_class = static_cast<FdClass>(call.fd_class);
  share.call = WaitClassName(call.what);
  share.on = FdClassWords(call.fd_class);
  const bool disk = fd_class == FdClass::kFile || call.what == WaitClass::kOpen;
  if (!disk) share.cause = VerdictCause::kBlocked;
  if (HasAnotherEnd(fd_class) && woken_by_process) share.cause = VerdictCause::kIpc;
  return share;
}

}  // namespace

VerdictShare ShareOfCall(const WaitEvent& call, bool woken_by_process) {
  if (IsFileWait(call.what)) return ShareOfFileCall(call, woken_by_process);
  VerdictShare share{.cause = VerdictCause::kBlocked, .source = VerdictSource::kHooks};
  if (call.what == WaitClass::kBinder) {
    share.cause = VerdictCause::kIpc;
    share.call = call.call;
    return share;
  }
  switch (call.what) {
    case WaitClass::kCondition:
      share.words = kCondition;
      return share;
    case WaitClass::kSemaphore:
      share.words = kSemaphore;
      return share;
    case WaitClass::kJoin:
      share.words = kJoin;
      return share;
    case WaitClass::kFutex:  // GLib's and Qt's conditions and mutexes alike
      share.words = kAnotherThread;
      return share;
    default:
      share.owner_tid = call.owner_tid;
      break;
  }
  share.cause = VerdictCause::kLock;
  return share;
}

VerdictShare ShareOfReading(const ThreadReading& reading) {
  VerdictShare share{.cause = VerdictCause::kBlocked, .source = VerdictSource::kSystemCall};
  if (reading.syscall < 0) share.source = VerdictSource::kThreadState;
  share.call = SystemCallName(reading.syscall);
  share.on = FdClassWords(static_cast<uint32_t>(reading.fd_class));
  if (reading.syscall == SYS_getdents64 && share.on != nullptr) share.on = kDirectory;
  switch (reading.wait) {
    case WaitReason::kLock:
      share.cause = VerdictCause::kLock;
      share.owner_tid = reading.lock_owner_tid;
      if (share.owner_tid == 0) share.words = kFutex;
      share.call = nullptr;
      break;
    case WaitReason::kThread:
      share.words = kAnotherThread;
      break;
    case WaitReason::kDisk:
      share.cause = VerdictCause::kDisk;
      break;
    case WaitReason::kSleeping:
      share.cause = VerdictCause::kSleeping;
      share.call = nullptr;
      break;
    case WaitReason::kDescriptor:
    case WaitReason::kBlocked:
      break;
    case WaitReason::kNone:
    case WaitReason::kUnknown:
      return {};
  }
  return share;
}

VerdictShare ShareOfState(const ThreadSpan& span, const ThreadReading* waited) {
  VerdictShare share{.cause = VerdictCause::kBlocked};
  if (span.stopped) {
    share.words = kStopped;
  } else if (span.uninterruptible || (span.own_request && waited == nullptr)) {
    share.cause = VerdictCause::kDisk;
  } else if (span.woken_by_process && waited == nullptr) {
    // By a pipe or a socket most likely, but a signal or a child that ended looks the same.
    share.cause = VerdictCause::kIpc;
    share.words = kWokenByProcess;
    share.estimate = true;
  } else if (span.woken_by_process && waited->wait == WaitReason::kDescriptor) {
    share = ShareOfReading(*waited);
    share.cause = VerdictCause::kIpc;
  }
  return share;
}

void SetPeer(const WaitPeer* peer, VerdictShare* share) {
  const bool open = share->cause == VerdictCause::kBlocked || share->cause == VerdictCause::kIpc;
  if (peer == nullptr || !open) return;
  const bool device =
      peer->kind == WaitPeer::Kind::kGpuDriver || peer->kind == WaitPeer::Kind::kVsync;
  share->cause = device ? VerdictCause::kBlocked : VerdictCause::kIpc;
  share->peer = peer;
}

}  // namespace jankbox

// Which cause a wait has, by each of the three things that tell of it.
#include "diagnosis/verdict/wait_shares.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

namespace jankbox {
namespace {

using FdClass = StackSample::FdClass;

WaitEvent Call(WaitClass what, FdClass fd_class = FdClass::kNone, int32_t owner_tid = 0) {
  return {.what = what, .fd_class = static_cast<uint8_t>(fd_class), .owner_tid = owner_tid};
}

ThreadReading Reading(WaitReason wait, int32_t number = -1, FdClass fd_class = FdClass::kNone) {
  ThreadReading reading;
  reading.wait = wait;
  reading.syscall = number;
  reading.fd_class = fd_class;
  return reading;
}

// "lock hooks: waiting for a lock"
std::string Line(const VerdictShare& share) {
  return std::string(VerdictCauseName(share.cause)) + " " + VerdictSourceName(share.source) +
         (share.estimate ? " ~: " : ": ") + PhraseOf(share);
}

TEST(ShareOfCall, LocksAreLocks) {
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kMutex), false)), "lock hooks: waiting for a lock");
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kReadLock), false)), "lock hooks: waiting for a lock");
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kWriteLock), false)),
            "lock hooks: waiting for a lock");
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kFutex), false)),
            "blocked hooks: waiting for another thread (futex)");
}

TEST(ShareOfCall, OwnerIsKeptWhereThereCanBeOne) {
  EXPECT_EQ(ShareOfCall(Call(WaitClass::kMutex, FdClass::kNone, 42), false).owner_tid, 42);
  EXPECT_EQ(ShareOfCall(Call(WaitClass::kCondition, FdClass::kNone, 42), false).owner_tid, 0)
      << "a condition has no owner";
}

TEST(ShareOfCall, WaitsForOtherThreadsAreNoLocks) {
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kCondition), false)),
            "blocked hooks: waiting for a condition");
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kSemaphore), false)),
            "blocked hooks: waiting for a semaphore");
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kJoin), false)),
            "blocked hooks: waiting for a thread to end");
}

TEST(ShareOfCall, FilesAreTheDiskAndOtherDescriptorsAreNot) {
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kFdatasync, FdClass::kFile), false)),
            "disk hooks: in fdatasync on a regular file");
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kRead, FdClass::kPipe), false)),
            "blocked hooks: in read on a pipe");
  EXPECT_EQ(Line(ShareOfCall(Call(WaitClass::kOpen), false)), "disk hooks: in open")
      << "a path has no descriptor yet";
}

TEST(ShareOfCall, AnotherProcessIsBlamedOnlyWhereItEndedTheWait) {
  for (const FdClass fd_class : {FdClass::kPipe, FdClass::kSocket, FdClass::kEvent}) {
    EXPECT_EQ(ShareOfCall(Call(WaitClass::kRead, fd_class), true).cause, VerdictCause::kIpc);
    EXPECT_EQ(ShareOfCall(Call(WaitClass::kRead, fd_class), false).cause, VerdictCause::kBlocked);
  }
  EXPECT_EQ(ShareOfCall(Call(WaitClass::kRead, FdClass::kFile), true).cause, VerdictCause::kDisk);
  EXPECT_EQ(ShareOfCall(Call(WaitClass::kRead, FdClass::kOther), true).cause,
            VerdictCause::kBlocked);
}

TEST(ShareOfCall, BinderCallIsAnotherProcess) {
  WaitEvent call = Call(WaitClass::kBinder);
  call.call = "binder call IWindowSession.relayout";
  EXPECT_EQ(Line(ShareOfCall(call, false)), "ipc hooks: in binder call IWindowSession.relayout");
}

TEST(ShareOfReading, EntriesOfADirectoryAreReadFromADirectory) {
  EXPECT_EQ(Line(ShareOfReading(Reading(WaitReason::kDisk, SYS_getdents64, FdClass::kFile))),
            "disk system calls: in getdents on a directory");
  EXPECT_EQ(Line(ShareOfReading(Reading(WaitReason::kDisk, SYS_fsync, FdClass::kFile))),
            "disk system calls: in fsync on a regular file");
}

TEST(SetPeer, WaitForNothingElseIsThePeers) {
  const WaitPeer server{.kind = WaitPeer::Kind::kXServer, .pid = 5, .process = "Xorg"};
  for (const VerdictShare& wait : {ShareOfCall(Call(WaitClass::kCondition), false),
                                   ShareOfCall(Call(WaitClass::kRead, FdClass::kSocket), true),
                                   ShareOfReading(Reading(WaitReason::kDescriptor, SYS_ppoll))}) {
    VerdictShare share = wait;
    SetPeer(&server, &share);
    EXPECT_EQ(share.cause, VerdictCause::kIpc);
    EXPECT_EQ(PhraseOf(share), "waiting for the X server (Xorg, pid 5)");
    EXPECT_EQ(share.source, wait.source);
  }
}

TEST(SetPeer, LocksDisksAndSleepsStayWhatTheyAre) {
  const WaitPeer server{.kind = WaitPeer::Kind::kXServer};
  for (const VerdictShare& wait :
       {ShareOfCall(Call(WaitClass::kMutex), false), ShareOfCall(Call(WaitClass::kOpen), false),
        ShareOfReading(Reading(WaitReason::kSleeping, 35))}) {
    VerdictShare share = wait;
    SetPeer(&server, &share);
    EXPECT_EQ(share.cause, wait.cause);
    EXPECT_EQ(share.peer, nullptr);
  }
}

TEST(SetPeer, DevicesAreNoProcess) {
  const WaitPeer vsync{.kind = WaitPeer::Kind::kVsync};
  VerdictShare share = ShareOfReading(Reading(WaitReason::kBlocked, SYS_ioctl));
  SetPeer(&vsync, &share);
  EXPECT_EQ(Line(share), "blocked system calls: waiting for the display's vsync");
}

TEST(ShareOfReading, LockHasItsOwnerOrTheFutexsWords) {
  ThreadReading reading = Reading(WaitReason::kLock, SYS_futex);
  EXPECT_EQ(Line(ShareOfReading(reading)), "lock system calls: waiting for a lock (futex)");
  reading.lock_owner_tid = 9;
  EXPECT_EQ(Line(ShareOfReading(reading)), "lock system calls: waiting for a lock");
  EXPECT_EQ(ShareOfReading(reading).owner_tid, 9);
}

TEST(ShareOfReading, EachReasonHasItsCause) {
  EXPECT_EQ(Line(ShareOfReading(Reading(WaitReason::kThread, SYS_futex))),
            "blocked system calls: waiting for another thread (futex)");
  EXPECT_EQ(Line(ShareOfReading(Reading(WaitReason::kDisk, SYS_fsync, FdClass::kFile))),
            "disk system calls: in fsync on a regular file");
  EXPECT_EQ(Line(ShareOfReading(Reading(WaitReason::kSleeping, SYS_clock_nanosleep))),
            "sleeping system calls: asleep");
  EXPECT_EQ(Line(ShareOfReading(Reading(WaitReason::kDescriptor, SYS_recvmsg, FdClass::kSocket))),
            "blocked system calls: in recvmsg on a socket");
}

TEST(ShareOfReading, WithoutASystemCallTheStateIsAllThatIsKnown) {
  EXPECT_EQ(Line(ShareOfReading(Reading(WaitReason::kBlocked))),
            "blocked thread states: off the CPU for an unknown reason");
}

TEST(ShareOfReading, ReadingThatSawNoWaitTellsNothing) {
  for (const WaitReason wait : {WaitReason::kNone, WaitReason::kUnknown}) {
    const VerdictShare share = ShareOfReading(Reading(wait, SYS_read));
    EXPECT_EQ(share.cause, VerdictCause::kUnknown);
    EXPECT_EQ(share.source, VerdictSource::kNothing);
  }
}

TEST(ShareOfState, UninterruptibleIsTheDiskWhateverAReadingSaw) {
  ThreadSpan span;
  span.uninterruptible = true;
  EXPECT_EQ(ShareOfState(span, nullptr).cause, VerdictCause::kDisk);
  const ThreadReading reading = Reading(WaitReason::kBlocked);
  EXPECT_EQ(ShareOfState(span, &reading).cause, VerdictCause::kDisk);
}

TEST(ShareOfState, OwnRequestIsTheDiskWhereNoReadingSaysOtherwise) {
  ThreadSpan span;
  span.own_request = true;
  EXPECT_EQ(ShareOfState(span, nullptr).cause, VerdictCause::kDisk);
  const ThreadReading reading = Reading(WaitReason::kBlocked);
  EXPECT_EQ(ShareOfState(span, &reading).cause, VerdictCause::kBlocked);
}

TEST(ShareOfState, WokenByAnotherProcessIsAnEstimateWithoutAReading) {
  ThreadSpan span;
  span.woken_by_process = true;
  const VerdictShare guessed = ShareOfState(span, nullptr);
  EXPECT_EQ(guessed.cause, VerdictCause::kIpc);
  EXPECT_TRUE(guessed.estimate) << "a signal looks the same";
  const ThreadReading descriptor = Reading(WaitReason::kDescriptor, SYS_read, FdClass::kPipe);
  const VerdictShare seen = ShareOfState(span, &descriptor);
  EXPECT_EQ(Line(seen), "ipc system calls: in read on a pipe");
  const ThreadReading blocked = Reading(WaitReason::kBlocked);
  EXPECT_EQ(ShareOfState(span, &blocked).cause, VerdictCause::kBlocked);
}

TEST(ShareOfState, StoppedThreadWaitsForNobody) {
  ThreadSpan span;
  span.stopped = true;
  const ThreadReading descriptor = Reading(WaitReason::kDescriptor, SYS_read, FdClass::kPipe);
  for (const ThreadReading* reading : {&descriptor, static_cast<const ThreadReading*>(nullptr)}) {
    EXPECT_EQ(Line(ShareOfState(span, reading)),
              "blocked nothing: stopped by a signal or a debugger");
  }
}

TEST(ShareOfState, PlainWaitIsBlocked) {
  EXPECT_EQ(Line(ShareOfState({}, nullptr)), "blocked nothing: off the CPU for an unknown reason");
}

}  // namespace
}  // namespace jankbox

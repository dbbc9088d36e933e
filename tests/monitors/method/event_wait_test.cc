#include "monitors/method/event_wait.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>

namespace jankbox {
namespace {

ThreadReading Blocked(WaitReason wait, int32_t syscall = -1) {
  ThreadReading reading;
  reading.wait = wait;
  reading.syscall = syscall;
  return reading;
}

TEST(EventWait, OtherThreadsAndDescriptorsAreEvents) {
  EXPECT_TRUE(WaitsForAnEvent(Blocked(WaitReason::kThread, SYS_futex), true));
  EXPECT_TRUE(WaitsForAnEvent(Blocked(WaitReason::kDescriptor, SYS_ppoll), true));
  EXPECT_TRUE(WaitsForAnEvent(Blocked(WaitReason::kBlocked, SYS_wait4), true));
  EXPECT_TRUE(WaitsForAnEvent(Blocked(WaitReason::kBlocked, SYS_rt_sigtimedwait), true));
}

TEST(EventWait, WorkIsNone) {
  EXPECT_FALSE(WaitsForAnEvent(Blocked(WaitReason::kNone), true));
  EXPECT_FALSE(WaitsForAnEvent(Blocked(WaitReason::kUnknown), true));
  EXPECT_FALSE(WaitsForAnEvent(Blocked(WaitReason::kLock, SYS_futex), true));
  EXPECT_FALSE(WaitsForAnEvent(Blocked(WaitReason::kDisk, SYS_fsync), true));
  EXPECT_FALSE(WaitsForAnEvent(Blocked(WaitReason::kSleeping, SYS_clock_nanosleep), true));
  EXPECT_FALSE(WaitsForAnEvent(Blocked(WaitReason::kBlocked, SYS_ioctl), true)) << "a driver";
}

TEST(EventWait, WaitThatIsNotSeenIsOneOfAWorker) {
  EXPECT_FALSE(WaitsForAnEvent(Blocked(WaitReason::kBlocked), true));
  EXPECT_TRUE(WaitsForAnEvent(Blocked(WaitReason::kBlocked), false));
}

}  // namespace
}  // namespace jankbox

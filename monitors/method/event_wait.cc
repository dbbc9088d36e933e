#include "monitors/method/event_wait.h"

#include <sys/syscall.h>

namespace jankbox {

bool WaitsForAnEvent(const ThreadReading& reading, bool watched) {
  if (reading.wait == WaitReason::kThread || reading.wait == WaitReason::kDescriptor) return true;
  if (reading.wait != WaitReason::kBlocked) return false;
  if (reading.syscall < 0) return !watched;
  return reading.syscall != SYS_ioctl && reading.syscall != SYS_flock;
}

}  // namespace jankbox

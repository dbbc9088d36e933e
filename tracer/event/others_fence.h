// A full fence in every other thread of the process, at the price of a system call of the caller:
// membarrier(PRIVATE_EXPEDITED), from Linux 4.14 on.
#ifndef JANKBOX_TRACER_EVENT_OTHERS_FENCE_H_
#define JANKBOX_TRACER_EVENT_OTHERS_FENCE_H_

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace jankbox {

class OthersFence {
 public:
  // Registers the process, which takes milliseconds if it has threads. False: there is no such
  // call. Not under a seccomp filter, which may kill for it.
  static bool Register() {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  }
  // Between a store of the caller's and its next load. After Register(). False: there was no fence,
  // since a filter was set meanwhile.
  static bool Run() { return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0; }
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_OTHERS_FENCE_H_

// The class of a descriptor of the recorded process. Asks the kernel (one system call that never
// waits for a file system); any thread, NO-ALLOC.
#ifndef JANKBOX_TRACER_SAMPLING_FD_CLASS_H_
#define JANKBOX_TRACER_SAMPLING_FD_CLASS_H_

#include <cstdint>

#include "tracer/unwind/stack_sample.h"

namespace jankbox {

// True for the system calls whose first argument is the descriptor that they wait on.
bool TakesFd(int32_t system_call);

// kNone if `fd` is not open.
StackSample::FdClass ClassifyFd(uint64_t fd);

// The class of an st_mode; event descriptors (epoll, eventfd, timerfd, …) have no type there.
StackSample::FdClass ClassifyMode(uint32_t mode);

// st_mode of an open descriptor; false if it is not open.
bool ReadFdMode(int fd, uint32_t* mode);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_FD_CLASS_H_

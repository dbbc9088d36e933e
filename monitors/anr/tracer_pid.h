// Who traces a thread of this process (a debugger, strace), from /proc/self/task/TID/status: 0 for
// nobody, and if it cannot be read. Reads a file; NO-ALLOC.
#ifndef JANKBOX_MONITORS_ANR_TRACER_PID_H_
#define JANKBOX_MONITORS_ANR_TRACER_PID_H_

#include <cstdint>

namespace jankbox {

int32_t TracerPidOf(int32_t tid);

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_ANR_TRACER_PID_H_

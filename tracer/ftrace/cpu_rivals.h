// The threads that had the CPU while a thread of the process could have run: the one that took it,
// and the one that gave it back, half of the time each if they differ, as the kernel distinguishes
// only switches to and from ours. Pure.
#ifndef JANKBOX_TRACER_FTRACE_CPU_RIVALS_H_
#define JANKBOX_TRACER_FTRACE_CPU_RIVALS_H_

#include <functional>
#include <vector>

#include "tracer/ftrace/kernel_event.h"

namespace jankbox {

// `events` are in order of time, as the kernel reported them: MakeSchedStream() takes the names
// out. Times below 0.1 ms are left out.
std::vector<CpuRival> FindCpuRivals(const std::function<bool(int32_t tid)>& is_ours,
                                    const std::vector<KernelEvent>& events);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_CPU_RIVALS_H_

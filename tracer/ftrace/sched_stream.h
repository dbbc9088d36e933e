// Makes the switches of each CPU follow one another, as importers demand. The kernel distinguishes
// only the switches to and from the process's threads, so what ran between two of them is not
// known: it is written as idle (tid 0), but for a thread that took the CPU from a runnable one of
// the process and gave it back. Kernels miss single switches without saying so (decision 8): a
// thread that leaves a CPU unseen to have come there came when it was woken, or was never gone if
// it had been preempted there. Pure.
#ifndef JANKBOX_TRACER_FTRACE_SCHED_STREAM_H_
#define JANKBOX_TRACER_FTRACE_SCHED_STREAM_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "tracer/ftrace/kernel_event.h"

namespace jankbox {

// True for a switched-out thread that could have gone on: R or R+.
bool StillRunnable(int64_t prev_state);

// Sorts by time, drops what is not about threads for which `is_ours` is true (completions of
// requests that others issued too), and closes the gaps. Page faults stay. Returns how many of the
// process's switches the kernel did not say; those to a CPU that a wake-up reports are put in at
// its time.
size_t MakeSchedStream(const std::function<bool(int32_t tid)>& is_ours,
                       std::vector<KernelEvent>* events);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_SCHED_STREAM_H_

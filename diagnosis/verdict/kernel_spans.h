// The states of a thread over time, from the kernel's events of a window: running, able to run,
// waiting and how that ended. Pure but for /proc, which is asked whether a waker is a process of
// its own. Sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_KERNEL_SPANS_H_
#define JANKBOX_DIAGNOSIS_VERDICT_KERNEL_SPANS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/verdict/wall_time.h"
#include "tracer/ftrace/kernel_window.h"

namespace jankbox {

// Of thread `tid` within [from_ns, to_ns], in order, on the window's clock. What the events do not
// say is left out; empty if they say nothing of the thread.
std::vector<ThreadSpan> KernelSpans(const KernelWindow& kernel, int32_t tid, uint64_t from_ns,
                                    uint64_t to_ns);

// Who had the CPU while `tid` was able to run: "2 threads of this process, 'gcc' of another". Empty
// if that is not known.
std::string RivalsOf(const KernelWindow& kernel, int32_t tid, uint64_t from_ns, uint64_t to_ns);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_KERNEL_SPANS_H_

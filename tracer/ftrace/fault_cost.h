// The cost of one page fault on this machine: faults have no end event, so that a share of time can
// only be estimated as their number times this (decision 5). Sealing thread: about 2 ms of CPU, and
// 4 MiB for that time.
#ifndef JANKBOX_TRACER_FTRACE_FAULT_COST_H_
#define JANKBOX_TRACER_FTRACE_FAULT_COST_H_

#include <cstdint>

namespace jankbox {

// CPU time of a first write to an anonymous page, in ns; the middle of several measurements. 0
// if memory cannot be had.
uint64_t MeasurePageFaultNs();

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_FAULT_COST_H_

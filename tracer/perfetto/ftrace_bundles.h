// Kernel events as FtraceEventBundle packets, one row of them a CPU, as importers expect them
// (tables sched, thread_state and raw events). A sequence of its own; timestamps are BOOTTIME.
// Cold; one packet is composed in the writer's scratch string at a time.
#ifndef JANKBOX_TRACER_PERFETTO_FTRACE_BUNDLES_H_
#define JANKBOX_TRACER_PERFETTO_FTRACE_BUNDLES_H_

#include <cstdint>

#include "tracer/ftrace/kernel_window.h"
#include "tracer/perfetto/packet_writer.h"

namespace jankbox {

// The process that all threads of other programs are given to: one closed group in viewers, which
// show a thread without a process beside the processes. Above all pids of the kernel
// (PID_MAX_LIMIT).
inline constexpr int32_t kOtherProgramsPid = INT32_MAX;

// Writes the kernel's version (how importers know the numbers of thread states), the threads of
// other programs and the events. Page faults have no message in the schema and are left out.
// Returns how many were written.
uint64_t WriteFtraceBundles(PacketWriter* writer, uint32_t sequence_id, const KernelWindow& kernel);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_FTRACE_BUNDLES_H_

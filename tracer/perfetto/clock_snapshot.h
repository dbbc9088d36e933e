// The clocks of a ClockSnapshot at one moment: BOOTTIME, MONOTONIC and REALTIME, the latter two by
// their distance in one reading. Appends to the writer's buffer; no state.
#ifndef JANKBOX_TRACER_PERFETTO_CLOCK_SNAPSHOT_H_
#define JANKBOX_TRACER_PERFETTO_CLOCK_SNAPSHOT_H_

#include <cstdint>

#include "base/proto_writer.h"
#include "tracer/clock/tick_clock.h"

namespace jankbox {

// Into a ClockSnapshot message.
void WriteKernelClocks(ProtoWriter& snapshot, const ClockReading& reading, uint64_t boottime_ns);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_CLOCK_SNAPSHOT_H_

#include "tracer/perfetto/clock_snapshot.h"

#include "tracer/perfetto/trace_fields.h"

namespace jankbox {
namespace {

void WriteClock(ProtoWriter& snapshot, uint32_t clock_id, uint64_t timestamp) {
  snapshot.Message(perfetto::clock_snapshot::kClocks, [&](ProtoWriter& clock) {
    clock.Varint(perfetto::clock_snapshot::clock::kClockId, clock_id);
    clock.Varint(perfetto::clock_snapshot::clock::kTimestamp, timestamp);
  });
}

// `boottime_ns` moved by the distance of two clocks; 0 if that is before the clock's start.
uint64_t MovedBy(uint64_t boottime_ns, uint64_t clock_ns, uint64_t reading_boottime_ns) {
  const uint64_t moved = boottime_ns + (clock_ns - reading_boottime_ns);
  return static_cast<int64_t>(moved) < 0 ? 0 : moved;
}

}  // namespace

void WriteKernelClocks(ProtoWriter& snapshot, const ClockReading& reading, uint64_t boottime_ns) {
  WriteClock(snapshot, perfetto::kBuiltinClockBoottime, boottime_ns);
  WriteClock(snapshot, perfetto::kBuiltinClockMonotonic,
             MovedBy(boottime_ns, reading.monotonic_ns, reading.boottime_ns));
  WriteClock(snapshot, perfetto::kBuiltinClockRealtime,
             MovedBy(boottime_ns, reading.realtime_ns, reading.boottime_ns));
}

}  // namespace jankbox

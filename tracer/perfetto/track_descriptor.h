// TrackDescriptor packets: the process, its threads, and further tracks below them. All on the
// sequence of the process. Cold; nothing is kept.
#ifndef JANKBOX_TRACER_PERFETTO_TRACK_DESCRIPTOR_H_
#define JANKBOX_TRACER_PERFETTO_TRACK_DESCRIPTOR_H_

#include <cstdint>
#include <string_view>

#include "tracer/clock/tick_clock.h"
#include "tracer/perfetto/packet_writer.h"

namespace jankbox {

// The sequence with which every trace starts.
inline constexpr uint32_t kProcessSequence = 1;

struct TrackFields {
  uint64_t uuid;
  uint64_t parent_uuid;
  std::string_view name;
  bool counter = false;
};

struct ProcessTrackFields {
  uint64_t uuid;
  int32_t pid;
  std::string_view name;
  uint64_t start_boottime_ns;  // 0: not known
};

struct ThreadTrackFields {
  uint64_t uuid;
  uint64_t process_uuid;
  int32_t pid;
  int32_t tid;
  std::string_view name;  // empty: not known
};

// First packet of kProcessSequence and of the trace: the clocks, with BOOTTIME as the trace's own.
void WriteTraceStart(PacketWriter* writer, const ClockReading& clock_reading);

void WriteTrack(PacketWriter* writer, const TrackFields& track);
void WriteProcessTrack(PacketWriter* writer, const ProcessTrackFields& process);
void WriteThreadTrack(PacketWriter* writer, const ThreadTrackFields& thread);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_TRACK_DESCRIPTOR_H_

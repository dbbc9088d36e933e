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

// Ranks order siblings, the lowest first. Viewers that do not know them have an order of their own.
struct TrackFields {
  uint64_t uuid;
  uint64_t parent_uuid;  // 0: beside the processes
  std::string_view name;
  bool counter = false;
  std::string_view description = {};  // not cleaned; what a viewer shows about the track
  bool ranks_children = false;        // else they are in the order of their names
  int32_t rank = 0;                   // if the parent ranks its children
};

struct ProcessTrackFields {
  uint64_t uuid;
  int32_t pid;
  std::string_view name;
  uint64_t start_boottime_ns;  // 0: not known
  int32_t rank = 0;            // among processes, after WriteRankedOrder()
};

struct ThreadTrackFields {
  uint64_t uuid;
  uint64_t process_uuid;
  int32_t pid;
  int32_t tid;
  std::string_view name;  // empty: not known
  int32_t rank = 0;       // among threads, after WriteRankedOrder()
};

// First packet of kProcessSequence and of the trace: the clocks, with BOOTTIME as the trace's own.
void WriteTraceStart(PacketWriter* writer, const ClockReading& clock_reading);

// Processes and threads are shown by rank.
void WriteRankedOrder(PacketWriter* writer);

void WriteTrack(PacketWriter* writer, const TrackFields& track);
void WriteProcessTrack(PacketWriter* writer, const ProcessTrackFields& process);
void WriteThreadTrack(PacketWriter* writer, const ThreadTrackFields& thread);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_TRACK_DESCRIPTOR_H_

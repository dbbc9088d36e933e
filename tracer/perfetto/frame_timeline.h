// Frames as Perfetto's FrameTimeline (decision 7): for each an expected and an actual surface frame
// with the same token, so that Perfetto's own jank tables and views fill. A sequence of its own,
// timestamps in BOOTTIME. Cold; sorts a copy.
#ifndef JANKBOX_TRACER_PERFETTO_FRAME_TIMELINE_H_
#define JANKBOX_TRACER_PERFETTO_FRAME_TIMELINE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "tracer/perfetto/packet_writer.h"

namespace jankbox {

// One frame; ns of BOOTTIME.
struct FrameTimes {
  uint64_t expected_start_ns = 0;  // vsync
  uint64_t deadline_ns = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;

  bool late() const { return end_ns > deadline_ns; }
};

struct FrameTimelineOptions {
  uint32_t sequence_id = 0;
  int32_t pid = 0;
  std::string_view layer_name;
};

// Token n is the n-th of `frames`, from 1.
void WriteFrameTimeline(PacketWriter* writer, const FrameTimelineOptions& options,
                        const std::vector<FrameTimes>& frames);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_FRAME_TIMELINE_H_

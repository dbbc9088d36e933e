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
struct TimelineFrame {
  uint64_t expected_start_ns = 0;  // vsync
  uint64_t deadline_ns = 0;
  uint64_t start_ns = 0;
  uint64_t end_ns = 0;
  uint64_t interval_ns = 0;          // of the display
  uint64_t vsync_id = 0;             // 0: none
  uint64_t expected_present_ns = 0;  // this and the next are known, or both 0
  uint64_t presented_ns = 0;
  bool discarded = false;  // never shown
};

struct FrameTimelineOptions {
  uint32_t sequence_id = 0;
  int32_t pid = 0;
  std::string_view layer_name;
};

// A frame's token is its vsync id; those without one get the numbers after the highest id.
// docs/formats/frame_timeline.md says which frame has which present type and jank type.
void WriteFrameTimeline(PacketWriter* writer, const FrameTimelineOptions& options,
                        const std::vector<TimelineFrame>& frames);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_FRAME_TIMELINE_H_

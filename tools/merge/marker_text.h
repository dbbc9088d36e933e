// Text that programs write to trace_marker: atrace's forms ("B|PID|NAME") and the markers that say
// the writer's clock. Pure functions; the views point into the text.
#ifndef JANKBOX_TOOLS_MERGE_MARKER_TEXT_H_
#define JANKBOX_TOOLS_MERGE_MARKER_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace jankbox::tools {

struct MarkerText {
  char kind = 0;  // B, E, C, S, F, I or N
  int32_t pid = 0;
  std::string_view name;   // of N: the event's, not the track's
  std::string_view value;  // of a counter, cookie of S and F
};

// Nothing if the text is not atrace's.
std::optional<MarkerText> ParseMarkerText(std::string_view text);

// CLOCK_MONOTONIC (ns) of the process that wrote the text, as it was written: from the recorder's
// "jankbox clock N ticks T monotonic NS" and from "trace_event_clock_sync: parent_ts=SECONDS",
// which systrace, catapult and trace viewers know.
std::optional<uint64_t> ParseClockText(std::string_view text);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_MARKER_TEXT_H_

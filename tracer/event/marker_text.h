// The texts that a process writes to the kernel's trace_marker (atrace, android.os.Trace, SDL,
// GTK):
//   B|pid|name                begin of a slice of the writing thread
//   E|pid                     end of its innermost one
//   C|pid|name|value          counter
//   S|pid|name|cookie         begin of an async slice, F|pid|name|cookie its end
//   G|pid|track|name|cookie   the same on a named track, H|pid|track|cookie its end
//   I|pid|name                instant of the thread
//   N|pid|track|name          instant on a named track
// Pure functions; the parts are views into the text.
#ifndef JANKBOX_TRACER_EVENT_MARKER_TEXT_H_
#define JANKBOX_TRACER_EVENT_MARKER_TEXT_H_

#include <cstdint>
#include <string_view>

namespace jankbox {

enum class MarkerKind : char {
  kUnknown = 0,
  kBegin = 'B',
  kEnd = 'E',
  kCounter = 'C',
  kAsyncBegin = 'S',
  kAsyncEnd = 'F',
  kTrackBegin = 'G',
  kTrackEnd = 'H',
  kInstant = 'I',
  kTrackInstant = 'N',
};

struct MarkerParts {
  MarkerKind kind = MarkerKind::kUnknown;
  std::string_view name;
  std::string_view track;  // of G, H and N
  int64_t value = 0;       // of a counter; the cookie of an async slice
};

// kUnknown if the text is none of these or a part of it is missing.
MarkerParts ParseMarker(std::string_view text);

// The kind that ParseMarker() would return, only from the first bytes.
MarkerKind KindOfMarker(std::string_view text);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_MARKER_TEXT_H_

// The kernel's text form of trace events, as /sys/kernel/tracing/trace has it: one line to one
// event and back. Names of tasks may contain spaces, parentheses, dashes and colons. An event
// without a form here keeps only its name (CapturedEvent.left_out). Pure functions; allocate.
#ifndef JANKBOX_TOOLS_MERGE_TRACE_LINE_H_
#define JANKBOX_TOOLS_MERGE_TRACE_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/merge/captured_event.pb.h"

namespace jankbox::tools {

// The order of the letters in the kernel's task_state_array; a plus adds the bit after them.
inline constexpr std::string_view kStateLetters = "SDTtXZPI";
inline constexpr int64_t kStatePreempted = 0x100;

enum class LineKind {
  kEvent,
  kComment,       // "# …", "##### CPU 1 buffer started ####", empty
  kLostEvents,    // "CPU:1 [LOST 12 EVENTS]"
  kContinuation,  // anything else: the rest of a marker with line breaks in it
};

// Stamps as they are: ns if the line has seconds, counts if it has none (*counts).
LineKind ParseTraceLine(std::string_view line, traceproto::CapturedEvent* event, bool* counts);

// How many events such a line says were lost; 0 if it says none.
uint64_t LostEvents(std::string_view line);

// `TASK-TID (TGID) [CPU] .... SECONDS.MICROSECONDS: NAME: FIELDS` without a line break. Empty if
// the event has no text form.
std::string TraceLine(const traceproto::CapturedEvent& event);

// The same of a marker; `ns` is cut to microseconds, line breaks in `text` become spaces.
struct MarkerLine {
  std::string_view comm;
  int32_t tid = 0;
  int32_t tgid = 0;
  uint64_t ns = 0;
  std::string_view text;  // "B|PID|NAME"
};
std::string TraceLine(const MarkerLine& marker);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_TRACE_LINE_H_

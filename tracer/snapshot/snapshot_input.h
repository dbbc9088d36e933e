// The data from which a trace is made, and the results. Plain data; times are ns.
#ifndef JANKBOX_TRACER_SNAPSHOT_SNAPSHOT_INPUT_H_
#define JANKBOX_TRACER_SNAPSHOT_SNAPSHOT_INPUT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/event/method_names.h"
#include "tracer/ftrace/kernel_window.h"
#include "tracer/ring/ring_window.h"
#include "tracer/snapshot/thread_lives.h"
#include "tracer/unwind/resolved_frame.h"

namespace jankbox {

// Facts of the process that the trace names.
struct SnapshotProcess {
  int32_t pid = 0;
  std::string name;
  uint64_t start_boottime_ns = 0;  // 0 if not known
};

// An annotation of the incident's slice.
struct SnapshotFact {
  enum class Kind : uint8_t { kText, kVerbatim, kNumber, kMs };

  std::string group;  // facts of one group follow one another; empty: none
  std::string name;
  Kind kind = Kind::kText;
  std::string text = {};  // of kText, which is cleaned, and of kVerbatim
  uint64_t value = 0;     // of kNumber; of kMs in ns
};

// A part of the incident, and what its thread did in it.
struct SnapshotStretch {
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  std::string name;    // "disk"
  std::string detail;  // "in fdatasync on a regular file"
  // Of kMs: the parts, if it is not all of one kind.
  std::vector<SnapshotFact> parts;
};

// A part of the incident from which no call of its thread is in the window.
struct SnapshotGap {
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  std::string reason;  // "overwritten"
};

// A thread of the process that ended a wait of another one: an arrow between two instants.
struct SnapshotWakeUp {
  int32_t waker_tid = 0;
  int32_t woken_tid = 0;
  uint64_t by_ns = 0;      // when the waker did it
  uint64_t woken_ns = 0;   // the end of the wait
  std::string waker_text;  // "wakes main [12], in Decoder::Finish"
  std::string woken_text;  // "woken by decoder [13], in Decoder::Finish"
};

// The reason for the seal, drawn on tracks above the processes: a slice from `from_ns` to `to_ns`,
// below it what its time was spent on and which part of it was not recorded. Times are BOOTTIME.
struct SnapshotIncident {
  std::string title;        // "slow message 904 ms: 61 % disk, in SavePreferences"
  std::string description;  // of its track
  std::string kind;         // "slow_message"
  std::string report_id;
  int32_t tid = 0;
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  std::vector<SnapshotFact> facts;
  std::vector<std::string> blamed_stack;   // innermost first
  std::vector<SnapshotStretch> stretches;  // oldest first; they do not overlap
  std::vector<SnapshotGap> gaps;           // the same
  std::vector<SnapshotWakeUp> wake_ups;
};

// How events were recorded in a part of the window; drawn on a track "Jankbox recording" if it
// was not all exact.
struct SnapshotRecording {
  std::string mode;      // "coarse"
  std::string reason;    // "over budget"
  uint64_t from_ns = 0;  // BOOTTIME
  uint64_t to_ns = 0;
};

struct SnapshotInput {
  const RingWindow* window = nullptr;
  const MethodNames* names = nullptr;
  const FrameTable* frames = nullptr;    // addresses of the stack samples in the window
  const KernelWindow* kernel = nullptr;  // null: not asked for
  TickConverter clock;
  ClockReading clock_reading;  // written as the trace's ClockSnapshot
  SnapshotProcess process;
  ThreadNames thread_names;   // of the process's threads now; none of a dead process
  SnapshotIncident incident;  // kind empty: none
  std::vector<SnapshotRecording> recording;
  uint64_t clock_error_ns = 0;  // of begins and ends, at worst; said on that track
  uint32_t time_unit_ns = 1;    // 1 or 128: coarser units make a smaller file
};

struct SnapshotStats {
  uint64_t slices = 0;  // begins written (methods, dispatches, async, sampled)
  uint64_t unmatched_ends = 0;
  uint64_t open_slices = 0;      // closed at the window's end
  uint64_t repaired_slices = 0;  // whose end was missing: closed with the call around them
  uint64_t unknown_markers = 0;
  uint64_t unnamed_methods = 0;
  uint64_t samples = 0;
  uint64_t torn_events = 0;
  uint64_t kernel_events = 0;
  uint64_t trace_bytes = 0;  // before compression
};

using SnapshotSink = std::function<Status(std::string_view)>;

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_SNAPSHOT_INPUT_H_

// Joins a capture's markers with the app's slices on the same tracks: an event of both sides is
// drawn once, and slices nest. Viewers put both on the thread's one track, on which an end closes
// whatever was opened last. Pure; allocates.
#ifndef JANKBOX_TOOLS_MERGE_SLICE_JOIN_H_
#define JANKBOX_TOOLS_MERGE_SLICE_JOIN_H_

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "tools/merge/app_trace.h"
#include "tools/merge/capture_facts.h"
#include "tools/merge/clock_fit.h"

namespace jankbox::tools {

// A marker that takes the place of one of the capture's.
struct JoinedMark {
  uint64_t boottime_ns;
  uint32_t cpu;
  int32_t tid;
  std::string text;  // "B|PID|NAME\n"
};

struct SliceJoin {
  std::unordered_set<uint64_t> dropped;  // ordinals of the capture's events
  std::vector<JoinedMark> added;         // by time
  uint64_t duplicates = 0;               // events dropped because the app's trace has them
  uint64_t unmatched_ends = 0;           // dropped: they would close a slice of the app
  uint64_t moved_slices = 0;             // their ends were moved, so that they nest
  uint64_t longest_move_ns = 0;
};

SliceJoin JoinSlices(const AppTrace& app, const CaptureFacts& facts, const ClockFit& fit);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_SLICE_JOIN_H_

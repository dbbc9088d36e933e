// Joins the trace of a sealed report with a system-wide capture of the same seconds: one Perfetto
// trace, both sides on the same thread tracks and on one clock. Two passes over the capture, packet
// by packet; the report's trace is in memory. Blocks on the disk. One thread.
#ifndef JANKBOX_TOOLS_MERGE_TRACE_MERGE_H_
#define JANKBOX_TOOLS_MERGE_TRACE_MERGE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/status.h"
#include "tools/merge/clock_fit.h"
#include "tools/merge/slice_join.h"
#include "tools/merge/system_capture.h"
#include "tools/merge/trace_output.h"

namespace jankbox::tools {

struct MergeInput {
  std::string_view report_file;  // bytes of a sealed report
  std::string report_name;       // for messages
  uint64_t report_clock_error_ns = 0;
  std::string kernel_release;  // that the report was made on; empty: not known
  std::string capture_path;
  std::string clock;         // the capture's, if its reader knows better than the file
  bool join_anyway = false;  // in spite of clocks or times that do not fit
  std::function<void(const char* what, double done)> progress;  // may be empty
};

struct MergeSummary {
  CaptureKind kind = CaptureKind::kText;
  ClockFit fit;
  int64_t app_shift_ns = 0;      // added to the app's stamps (Perfetto captures keep theirs)
  uint64_t app_packets = 0;      // read
  uint64_t capture_packets = 0;  // read; 0 if the capture has none
  std::map<std::string, uint64_t> events;    // of the capture, by kind
  std::map<std::string, uint64_t> left_out;  // events that have no form in the output, by name
  uint64_t lost_events = 0;                  // by the kernel, as it says
  uint64_t odd_lines = 0;
  bool cut_off = false;                     // the capture ends inside an event
  bool has_app_threads = false;             // the capture has events of the app's threads
  uint64_t app_from_ns = 0, app_to_ns = 0;  // what each covers, BOOTTIME of the app
  uint64_t capture_from_ns = 0, capture_to_ns = 0;
  uint64_t overlap_ns = 0;
  uint64_t duplicates = 0;  // markers that both had: the capture's copies were dropped
  uint64_t duplicate_kernel_events =
      0;  // the same of sched and block events: the app's were dropped
  uint64_t contradictory_switches = 0;  // of the capture: what was missing between them is put in
  uint64_t unmatched_ends = 0;
  uint64_t moved_slices = 0;
  uint64_t longest_move_ns = 0;
  uint64_t packets = 0;  // written
};

// Writes all packets to `output`; the caller finishes it. Messages name the file and the fix.
Status MergeTraces(const MergeInput& input, TraceOutput* output, MergeSummary* summary);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_TRACE_MERGE_H_

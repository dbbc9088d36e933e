// What the strict trace reader found in a trace. Plain data.
#ifndef JANKBOX_TESTS_PERFETTO_TRACE_CONTENT_H_
#define JANKBOX_TESTS_PERFETTO_TRACE_CONTENT_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace jankbox::testing {

struct ReadTrack {
  std::string name;
  uint64_t parent_uuid = 0;  // 0 of a process' own track, and of one above the processes
  int32_t tid = 0;           // of a thread's own track, else 0
  bool process = false;      // a process' own track
  bool counter = false;
  std::string description;
  bool ranks_children = false;
  int32_t rank = 0;
};

struct ReadSlice {
  uint64_t ts = 0;  // ns of BOOTTIME
  uint64_t dur = 0;
  uint32_t depth = 0;
  std::string name;
  std::string category;
  std::string track;  // name of a track of its own; empty on a thread's track
  int32_t tid = 0;    // 0 on a track of the process
  uint64_t track_uuid = 0;
  uint32_t sequence = 0;        // that it begins on
  std::set<std::string> flags;  // annotations that are true
  // Strings and numbers. An entry of a group is "group.name", one of a list "list[0]".
  std::map<std::string, std::string> annotations;
};

struct ReadInstant {
  uint64_t ts = 0;
  std::string name;
  int32_t tid = 0;
  std::string category;
  std::vector<uint64_t> flows;        // that go on from here
  std::vector<uint64_t> ended_flows;  // that end here
};

struct ReadCounter {
  uint64_t ts = 0;
  std::string name;
  int64_t value = 0;
};

struct ReadFrameOfStack {
  std::string function;
  std::string module;
  std::string build_id;  // raw bytes
  uint64_t rel_pc = 0;
};

// A call at an address; of several the innermost first, and all but the last are inlined.
struct ReadLine {
  std::string function;
  std::string file;
  uint32_t line = 0;
};

// Where the names at the end of a trace belong: mapping's path as importers join it, its build id,
// address in it.
using ReadAddress = std::tuple<std::string, std::string, uint64_t>;

struct ReadSample {
  uint64_t ts = 0;
  int32_t pid = 0;
  int32_t tid = 0;
  uint32_t unwind_error = 0;
  std::vector<ReadFrameOfStack> frames;  // outermost first
};

struct ReadSurfaceFrame {
  bool actual = false;
  uint64_t ts = 0;
  uint64_t dur = 0;
  int64_t token = 0;
  int32_t pid = 0;
  std::string layer;
  uint32_t present_type = 0;
  int32_t jank_type = 0;
  bool on_time_finish = false;
};

struct ReadTrigger {
  uint64_t ts = 0;
  uint32_t sequence = 0;
  std::string name;
  std::string producer;
};

// A time on a CPU, from one switch to the next on it.
struct ReadSched {
  uint32_t cpu = 0;
  uint64_t ts = 0;
  uint64_t dur = 0;  // 0 and `open`: still on it when the trace ends
  int32_t tid = 0;
  int32_t prev_tid = 0;  // that it came after
  std::string comm;
  std::string end_state;  // "R", "S", "D", …; "R+" if it was preempted
  bool open = false;
};

struct ReadWaking {
  uint64_t ts = 0;
  int32_t tid = 0;  // that is woken
  int32_t waker = 0;
};

struct ReadBlockRequest {
  uint64_t ts = 0;
  uint64_t dur = 0;
  int32_t tid = 0;
  uint32_t bytes = 0;
  bool open = false;  // no completion in the trace
};

struct TraceContent {
  int32_t pid = 0;
  std::string process_name;
  int64_t process_start_ns = 0;
  std::map<int32_t, std::string> threads;  // by tid
  // Of ProcessTree packets: names by pid, and whose the threads are.
  std::map<int32_t, std::string> other_processes;
  std::map<int32_t, int32_t> other_threads;
  std::map<uint64_t, ReadTrack> tracks;   // by uuid
  std::vector<uint64_t> tracks_in_order;  // uuids as they were described
  bool ranked = false;                    // processes and threads are ordered by rank
  std::map<uint32_t, uint64_t> clocks;    // of the first ClockSnapshot: id to time
  std::vector<ReadSlice> slices;          // by time, outer ones first
  std::vector<ReadInstant> instants;
  std::vector<ReadCounter> counters;
  std::vector<ReadSample> samples;
  std::map<ReadAddress, std::vector<ReadLine>> symbols;
  std::vector<ReadSurfaceFrame> frames;  // by time
  std::vector<ReadTrigger> triggers;
  std::string kernel_release;
  std::vector<ReadSched> sched;     // by CPU, then by time; what is idle too
  std::vector<ReadWaking> wakings;  // by CPU of the waker, then by time
  std::vector<ReadBlockRequest> block;
  std::set<uint32_t> lossy_cpus;
  uint64_t ftrace_events = 0;
  std::vector<std::string> other_marks;  // of ftrace: markers but B and E, which are slices of
                                         // category "ftrace"
  uint64_t packets = 0;
};

// Whether a trace has every switch of its CPUs. A capture of another tool's may lack threads that
// the kernel was told not to trace.
enum class Switches { kAll, kSome };

}  // namespace jankbox::testing

#endif  // JANKBOX_TESTS_PERFETTO_TRACE_CONTENT_H_

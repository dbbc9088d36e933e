// The decoded trace of a report: names resolved, every timestamp in ns of CLOCK_BOOTTIME. All
// events are in memory: a report has at most some million. Not thread-safe; allocates.
#ifndef JANKBOX_TOOLS_MERGE_APP_TRACE_H_
#define JANKBOX_TOOLS_MERGE_APP_TRACE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tools/merge/captured_event.pb.h"

namespace jankbox::tools {

inline constexpr uint32_t kBoottimeClock = 6;  // BuiltinClock.BOOTTIME

struct AppTrack {
  uint64_t uuid = 0;
  uint64_t parent_uuid = 0;  // 0: none
  std::string name;
  int32_t tid = 0;  // of a thread's own track, else 0
};

struct AppEvent {
  uint64_t ts_ns;
  int64_t value;   // of a counter
  uint32_t track;  // index into AppTrace.tracks
  uint32_t name;   // index into AppTrace.names
  traceproto::TrackEvent::Type type;
};

// Distinguishes the identifiers of one trace from another's.
struct TraceIds {
  std::set<uint32_t> sequences;
  std::set<uint64_t> track_uuids;
  std::set<int64_t> frame_cookies;
};
void CollectIds(const traceproto::TracePacket& packet, TraceIds* ids);

// Clocks of a ClockSnapshot, ns; 0 if it has none.
struct KernelClocks {
  uint64_t boottime_ns = 0;
  uint64_t monotonic_ns = 0;
  uint64_t realtime_ns = 0;
};
KernelClocks ReadClocks(const traceproto::ClockSnapshot& snapshot);

struct AppTrace {
  int32_t pid = 0;
  uint64_t process_uuid = 0;
  std::string process_name;
  std::map<int32_t, std::string> threads;  // name by tid
  std::vector<AppTrack> tracks;
  std::vector<std::string> names;
  std::vector<AppEvent> events;                          // by time; equal stamps as written
  std::vector<traceproto::CapturedEvent> kernel_events;  // of ftrace, by time
  KernelClocks clocks;                                   // of the first snapshot
  bool says_kernel = false;                              // the kernel's version is in it
  TraceIds ids;
  uint64_t packets = 0;
  uint64_t first_ns = 0;  // of all events
  uint64_t last_ns = 0;
};

// `file`: a sealed report. kCorrupt if it is damaged or its trace breaks its own rules.
Result<AppTrace> ReadAppTrace(std::string_view file);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_APP_TRACE_H_

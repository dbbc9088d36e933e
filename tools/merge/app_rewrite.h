// Makes the packets of the app's trace fit beside another trace: identifiers that both use are
// changed, times moved, kernel events that the other one has left out. One thread; allocates.
#ifndef JANKBOX_TOOLS_MERGE_APP_REWRITE_H_
#define JANKBOX_TOOLS_MERGE_APP_REWRITE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "tools/merge/app_trace.h"
#include "tracer/perfetto/trace.pb.h"

namespace jankbox::tools {

struct OtherTrace {
  TraceIds ids;
  std::map<std::string, uint64_t> kinds;  // of its kernel events
  uint64_t from_ns = 0, to_ns = 0;        // what they cover, BOOTTIME of the app
  uint32_t primary_clock = 0;             // 0: not said
  std::set<int32_t> threads;              // whose processes it knows
  bool knows_processes = false;           // of all threads
};

class AppRewriter {
 public:
  // `shift_ns` is added to every stamp.
  AppRewriter(const AppTrace& app, const OtherTrace& other, int64_t shift_ns);

  // False if nothing of the packet is left.
  bool Rewrite(traceproto::TracePacket* packet);

  // Identifiers that neither trace uses.
  uint32_t NewSequence();
  uint64_t NewTrack();
  uint64_t MappedTrack(uint64_t uuid) const;

  uint64_t dropped_kernel_events() const { return dropped_kernel_events_; }

 private:
  void RewriteTrack(traceproto::TrackDescriptor* descriptor);
  void RewriteClocks(traceproto::ClockSnapshot* snapshot);
  void RewriteFrame(traceproto::FrameTimelineEvent* frame);
  void RewriteBundle(traceproto::FtraceEventBundle* bundle);
  void RewriteTasks(traceproto::ProcessTree* tree) const;
  uint64_t Shifted(uint64_t ns) const { return ns + static_cast<uint64_t>(shift_ns_); }
  // Whether the packet's stamp is BOOTTIME, not a delta.
  bool StampIsBoottime(const traceproto::TracePacket& packet);

  const OtherTrace& other_;
  const int64_t shift_ns_;
  std::set<uint32_t> used_sequences_;
  std::set<uint64_t> used_tracks_;
  std::map<uint32_t, uint32_t> sequences_;
  std::unordered_map<uint64_t, uint64_t> tracks_;
  std::unordered_map<int64_t, int64_t> cookies_;
  std::map<uint32_t, uint32_t> default_clocks_;  // by sequence
  uint64_t dropped_kernel_events_ = 0;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_APP_REWRITE_H_

// Kernel events as Perfetto packs them: bundles of one CPU. Reading one apart, and packing events
// of a capture that has another form. Not thread-safe; allocates.
#ifndef JANKBOX_TOOLS_MERGE_FTRACE_BUNDLE_H_
#define JANKBOX_TOOLS_MERGE_FTRACE_BUNDLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/status.h"
#include "tools/merge/captured_event.pb.h"

namespace jankbox::tools {

// The events of a bundle, each with its CPU and its stamp in BOOTTIME.
std::vector<traceproto::CapturedEvent> EventsOf(const traceproto::FtraceEventBundle& bundle);

// What an event of that bundle reads in BOOTTIME.
uint64_t BoottimeOf(const traceproto::FtraceEventBundle& bundle, uint64_t timestamp);

// Hands out packets of at most 512 events of one CPU.
class BundleWriter {
 public:
  using Sink = std::function<Status(const traceproto::TracePacket&)>;

  BundleWriter(uint32_t sequence_id, Sink sink)
      : sequence_id_(sequence_id), sink_(std::move(sink)) {}

  Status Write(const traceproto::CapturedEvent& event);
  // REQUIRED after the last event.
  Status Flush();

 private:
  Status Hand(traceproto::TracePacket* packet, uint32_t cpu);

  const uint32_t sequence_id_;
  const Sink sink_;
  bool first_ = true;
  std::map<uint32_t, traceproto::TracePacket> packets_;  // by CPU
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_FTRACE_BUNDLE_H_

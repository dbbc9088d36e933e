// A Perfetto trace written packet by packet: plain, or as one zstd frame that a Report may follow.
// Memory stays at some MiB. One thread.
#ifndef JANKBOX_TOOLS_MERGE_TRACE_OUTPUT_H_
#define JANKBOX_TOOLS_MERGE_TRACE_OUTPUT_H_

#include <memory>
#include <string>

#include "base/status.h"
#include "tracer/perfetto/trace.pb.h"
#include "tracer/snapshot/zstd_stream.h"

namespace jankbox::tools {

class TraceOutput {
 public:
  // `fd` outlives the output.
  TraceOutput(int fd, bool compressed);

  Status Write(const traceproto::TracePacket& packet);
  // Ends the trace; compressed, `report` (the message's bytes) follows in a skippable frame.
  Status Finish(const std::string& report);

  uint64_t packets() const { return packets_; }

 private:
  Status Drain();

  const SnapshotSink sink_;
  std::unique_ptr<ZstdStream> zstd_;  // null: plain
  std::string pending_;
  uint64_t packets_ = 0;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_TRACE_OUTPUT_H_

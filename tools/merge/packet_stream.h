// The packets of a Perfetto trace, one after another, those inside compressed packets among them.
// Memory: one packet (64 MiB at most), whatever the trace's length. One thread.
#ifndef JANKBOX_TOOLS_MERGE_PACKET_STREAM_H_
#define JANKBOX_TOOLS_MERGE_PACKET_STREAM_H_

#include <functional>

#include "base/status.h"
#include "tools/merge/byte_source.h"
#include "tracer/perfetto/trace.pb.h"

namespace jankbox::tools {

using PacketFunction = std::function<Status(traceproto::TracePacket*)>;

// kCorrupt if the bytes are no trace or end inside a packet; else what `on_packet` returned.
Status ForEachPacket(ByteSource* source, const PacketFunction& on_packet);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_PACKET_STREAM_H_

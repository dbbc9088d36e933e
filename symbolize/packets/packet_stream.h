// The packets of a Perfetto trace, one after another, those inside compressed packets among them.
// Memory: one packet (64 MiB at most), whatever the trace's length. One thread.
#ifndef JANKBOX_SYMBOLIZE_PACKETS_PACKET_STREAM_H_
#define JANKBOX_SYMBOLIZE_PACKETS_PACKET_STREAM_H_

#include <functional>

#include "base/status.h"
#include "symbolize/packets/byte_source.h"
#include "tracer/perfetto/trace.pb.h"

namespace jankbox {

using PacketFunction = std::function<Status(traceproto::TracePacket*)>;

// kCorrupt if the bytes are no trace or end inside a packet; else what `on_packet` returned.
Status ForEachPacket(ByteSource* source, const PacketFunction& on_packet);

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_PACKETS_PACKET_STREAM_H_

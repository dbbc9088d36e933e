#include "tracer/perfetto/track_descriptor.h"

#include "base/text/private_text.h"
#include "base/utf8.h"
#include "tracer/perfetto/clock_snapshot.h"
#include "tracer/perfetto/trace_fields.h"

namespace jankbox {
namespace {

namespace field = perfetto::track_descriptor;

template <typename Body>
void WriteDescriptor(PacketWriter* writer, Body&& body) {
  writer->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, kProcessSequence);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  perfetto::trace_packet::kSeqNeedsIncrementalState);
    packet.Message(perfetto::trace_packet::kTrackDescriptor, body);
  });
}

void WriteRank(ProtoWriter& descriptor, int32_t rank) {
  if (rank != 0) descriptor.Int(field::kSiblingOrderRank, rank);
}

}  // namespace

void WriteTraceStart(PacketWriter* writer, const ClockReading& clock_reading) {
  writer->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, kProcessSequence);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  perfetto::trace_packet::kSeqIncrementalStateCleared);
    packet.Bool(perfetto::trace_packet::kFirstPacketOnSequence, true);
    packet.Message(perfetto::trace_packet::kClockSnapshot, [&](ProtoWriter& snapshot) {
      WriteKernelClocks(snapshot, clock_reading, clock_reading.boottime_ns);
      snapshot.Varint(perfetto::clock_snapshot::kPrimaryTraceClock,
                      perfetto::kBuiltinClockBoottime);
    });
  });
}

void WriteRankedOrder(PacketWriter* writer) {
  WriteDescriptor(writer, [](ProtoWriter& descriptor) {
    descriptor.Varint(field::kUuid, 0);
    descriptor.Varint(field::kProcessOrdering, field::kProcessOrderingExplicit);
    descriptor.Varint(field::kThreadOrdering, field::kThreadOrderingExplicit);
  });
}

void WriteTrack(PacketWriter* writer, const TrackFields& track) {
  WriteDescriptor(writer, [&](ProtoWriter& descriptor) {
    descriptor.Varint(field::kUuid, track.uuid);
    if (track.parent_uuid != 0) descriptor.Varint(field::kParentUuid, track.parent_uuid);
    descriptor.Bytes(field::kName, SealedText(track.name));
    if (track.counter) descriptor.Bytes(field::kCounter, {});
    if (track.ranks_children) descriptor.Varint(field::kChildOrdering, field::kExplicit);
    WriteRank(descriptor, track.rank);
    if (!track.description.empty()) {
      descriptor.Bytes(field::kDescription, ToValidUtf8(track.description));
    }
  });
}

void WriteProcessTrack(PacketWriter* writer, const ProcessTrackFields& process) {
  WriteDescriptor(writer, [&](ProtoWriter& descriptor) {
    descriptor.Varint(field::kUuid, process.uuid);
    descriptor.Message(field::kProcess, [&](ProtoWriter& message) {
      message.Int(perfetto::process_descriptor::kPid, process.pid);
      message.Bytes(perfetto::process_descriptor::kProcessName, SealedText(process.name));
      if (process.start_boottime_ns != 0) {
        message.Varint(perfetto::process_descriptor::kStartTimestampNs, process.start_boottime_ns);
      }
    });
    WriteRank(descriptor, process.rank);
  });
}

void WriteThreadTrack(PacketWriter* writer, const ThreadTrackFields& thread) {
  WriteDescriptor(writer, [&](ProtoWriter& descriptor) {
    descriptor.Varint(field::kUuid, thread.uuid);
    descriptor.Varint(field::kParentUuid, thread.process_uuid);
    descriptor.Message(field::kThread, [&](ProtoWriter& message) {
      message.Int(perfetto::thread_descriptor::kPid, thread.pid);
      message.Int(perfetto::thread_descriptor::kTid, thread.tid);
      if (!thread.name.empty())
        message.Bytes(perfetto::thread_descriptor::kThreadName, SealedText(thread.name));
    });
    WriteRank(descriptor, thread.rank);
  });
}

}  // namespace jankbox

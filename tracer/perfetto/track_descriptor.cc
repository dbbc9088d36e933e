#include "tracer/perfetto/track_descriptor.h"

#include "tracer/perfetto/clock_snapshot.h"
#include "tracer/perfetto/trace_fields.h"
#include "tracer/perfetto/utf8.h"

namespace jankbox {
namespace {

namespace field = perfetto::track_descriptor;

template <typename Body>
void WriteDescriptor(PacketWriter* writer, Body&& body) {
  writer->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::packet::kTrustedSequenceId, kProcessSequence);
    packet.Varint(perfetto::packet::kSequenceFlags, perfetto::kNeedsIncrementalState);
    packet.Message(perfetto::packet::kTrackDescriptor, body);
  });
}

}  // namespace

void WriteTraceStart(PacketWriter* writer, const ClockReading& clock_reading) {
  writer->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::packet::kTrustedSequenceId, kProcessSequence);
    packet.Varint(perfetto::packet::kSequenceFlags, perfetto::kIncrementalStateCleared);
    packet.Bool(perfetto::packet::kFirstPacketOnSequence, true);
    packet.Message(perfetto::packet::kClockSnapshot, [&](ProtoWriter& snapshot) {
      WriteKernelClocks(snapshot, clock_reading, clock_reading.boottime_ns);
      snapshot.Varint(perfetto::clock_snapshot::kPrimaryTraceClock, perfetto::kClockBoottime);
    });
  });
}

void WriteTrack(PacketWriter* writer, const TrackFields& track) {
  WriteDescriptor(writer, [&](ProtoWriter& descriptor) {
    descriptor.Varint(field::kUuid, track.uuid);
    descriptor.Varint(field::kParentUuid, track.parent_uuid);
    descriptor.Bytes(field::kName, ToValidUtf8(track.name));
    if (track.counter) descriptor.Bytes(field::kCounter, {});
  });
}

void WriteProcessTrack(PacketWriter* writer, const ProcessTrackFields& process) {
  WriteDescriptor(writer, [&](ProtoWriter& descriptor) {
    descriptor.Varint(field::kUuid, process.uuid);
    descriptor.Message(field::kProcess, [&](ProtoWriter& message) {
      message.Int(field::kProcessPid, process.pid);
      message.Bytes(field::kProcessName, ToValidUtf8(process.name));
      if (process.start_boottime_ns != 0) {
        message.Varint(field::kProcessStartTimestampNs, process.start_boottime_ns);
      }
    });
  });
}

void WriteThreadTrack(PacketWriter* writer, const ThreadTrackFields& thread) {
  WriteDescriptor(writer, [&](ProtoWriter& descriptor) {
    descriptor.Varint(field::kUuid, thread.uuid);
    descriptor.Varint(field::kParentUuid, thread.process_uuid);
    descriptor.Message(field::kThread, [&](ProtoWriter& message) {
      message.Int(field::kThreadPid, thread.pid);
      message.Int(field::kThreadTid, thread.tid);
      if (!thread.name.empty()) message.Bytes(field::kThreadName, ToValidUtf8(thread.name));
    });
  });
}

}  // namespace jankbox

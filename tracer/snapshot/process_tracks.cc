#include "tracer/snapshot/process_tracks.h"

#include <algorithm>

#include "base/utf8.h"
#include "tracer/perfetto/trace_fields.h"
#include "tracer/perfetto/track_descriptor.h"
#include "tracer/perfetto/track_uuid.h"
#include "tracer/snapshot/trace_clock.h"

namespace jankbox {
namespace {

constexpr std::string_view kIncidentTrackName = "Jankbox incident";
constexpr std::string_view kRecordingTrackName = "Jankbox recording";
constexpr uint32_t kRecordingSequence = 1u << 30;  // beyond those of threads

// A packet of the process's sequence at a moment.
template <typename Body>
void WriteProcessPacket(PacketWriter* writer, uint64_t boottime_ns, Body&& body) {
  writer->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, kProcessSequence);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  perfetto::trace_packet::kSeqNeedsIncrementalState);
    packet.Varint(perfetto::trace_packet::kTimestamp, boottime_ns);
    body(packet);
  });
}

void WriteAnnotation(ProtoWriter& event, std::string_view name, std::string_view value) {
  namespace field = perfetto::track_event;
  event.Message(field::kDebugAnnotations, [&](ProtoWriter& annotation) {
    annotation.Bytes(perfetto::debug_annotation::kName, name);
    annotation.Bytes(perfetto::debug_annotation::kStringValue, ToValidUtf8(value));
  });
}

void WriteAnnotation(ProtoWriter& event, std::string_view name, int64_t value) {
  namespace field = perfetto::track_event;
  event.Message(field::kDebugAnnotations, [&](ProtoWriter& annotation) {
    annotation.Bytes(perfetto::debug_annotation::kName, name);
    annotation.Int(perfetto::debug_annotation::kIntValue, value);
  });
}

}  // namespace

uint64_t ProcessTracks::process_uuid() const {
  return TrackUuid(TrackKind::kProcess, input_.process.pid, 0);
}

void ProcessTracks::WriteDescriptors() {
  WriteTraceStart(writer_, input_.clock_reading);
  WriteProcessTrack(writer_, {.uuid = process_uuid(),
                              .pid = input_.process.pid,
                              .name = input_.process.name,
                              .start_boottime_ns = input_.process.start_boottime_ns});
  for (const WindowThread& thread : input_.window->threads) {
    const size_t index = thread_uuids_.size();
    uint64_t uuid =
        TrackUuid(TrackKind::kThread, input_.process.pid, static_cast<uint32_t>(thread.tid));
    if (uuids_by_tid_.contains(thread.tid)) {
      uuid = TrackUuid(TrackKind::kLaterThread, input_.process.pid, static_cast<uint32_t>(index));
    }
    thread_uuids_.push_back(uuid);
    uuids_by_tid_[thread.tid] = uuid;
    WriteThread(uuid, thread.tid, lives_->LastNameOf(thread));
  }
}

uint64_t ProcessTracks::UuidOfTid(int32_t tid) {
  const uint64_t uuid =
      TrackUuid(TrackKind::kThread, input_.process.pid, static_cast<uint32_t>(tid));
  auto [it, inserted] = uuids_by_tid_.try_emplace(tid, uuid);
  if (inserted) WriteThread(uuid, tid, lives_->NameAt(tid, UINT64_MAX));
  return it->second;
}

uint64_t ProcessTracks::UuidOfLife(int32_t tid, const ThreadLife* life) {
  for (size_t i = 0; life != nullptr && i < thread_uuids_.size(); ++i) {
    const WindowThread& thread = input_.window->threads[i];
    const uint64_t first = FirstTicks(thread);
    if (thread.tid == tid && first >= life->from_ticks && first < life->to_ticks) {
      return thread_uuids_[i];
    }
  }
  return UuidOfTid(tid);
}

void ProcessTracks::WriteThread(uint64_t uuid, int32_t tid, std::string_view name) {
  WriteThreadTrack(writer_, {.uuid = uuid,
                             .process_uuid = process_uuid(),
                             .pid = input_.process.pid,
                             .tid = tid,
                             .name = name});
}

void ProcessTracks::WriteTrigger() {
  const SnapshotTrigger& trigger = input_.trigger;
  if (trigger.kind.empty()) return;
  WriteTrack(writer_, {.uuid = TrackUuid(TrackKind::kIncident, input_.process.pid, 0),
                       .parent_uuid = process_uuid(),
                       .name = kIncidentTrackName});
  const uint64_t from_ns = std::min(trigger.from_ns, TraceClock::kMaxNs);
  const uint64_t to_ns = std::clamp(trigger.to_ns, from_ns, TraceClock::kMaxNs);
  WriteIncidentEdge(from_ns, true);
  WriteProcessPacket(writer_, to_ns, [&](ProtoWriter& packet) {
    packet.Message(perfetto::trace_packet::kTrigger, [&](ProtoWriter& message) {
      message.Bytes(perfetto::trigger::kTriggerName, ToValidUtf8("jankbox." + trigger.kind));
      message.Bytes(perfetto::trigger::kProducerName, "jankbox");
    });
  });
  WriteIncidentEdge(to_ns, false);
}

void ProcessTracks::WriteRecording() {
  const bool exact =
      std::all_of(input_.recording.begin(), input_.recording.end(),
                  [](const SnapshotRecording& part) { return part.mode == "exact"; });
  if (exact) return;
  WriteTrack(writer_, {.uuid = TrackUuid(TrackKind::kRecording, input_.process.pid, 0),
                       .parent_uuid = process_uuid(),
                       .name = kRecordingTrackName});
  for (const SnapshotRecording& part : input_.recording) {
    WriteRecordingEdge(part, true);
    WriteRecordingEdge(part, false);
  }
}

// On a sequence of its own: its moments are before the incident's.
void ProcessTracks::WriteRecordingEdge(const SnapshotRecording& part, bool begin) {
  namespace field = perfetto::track_event;
  using perfetto::TrackEventType;
  const uint64_t from_ns = std::min(part.from_ns, TraceClock::kMaxNs);
  const bool first = begin && &part == &input_.recording.front();
  writer_->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, kRecordingSequence);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  first ? perfetto::trace_packet::kSeqIncrementalStateCleared
                        : perfetto::trace_packet::kSeqNeedsIncrementalState);
    if (first) packet.Varint(perfetto::trace_packet::kFirstPacketOnSequence, 1);
    packet.Varint(perfetto::trace_packet::kTimestamp,
                  begin ? from_ns : std::clamp(part.to_ns, from_ns, TraceClock::kMaxNs));
    packet.Message(perfetto::trace_packet::kTrackEvent, [&](ProtoWriter& event) {
      event.Varint(field::kTrackUuid, TrackUuid(TrackKind::kRecording, input_.process.pid, 0));
      event.Varint(field::kType, static_cast<uint64_t>(begin ? TrackEventType::kSliceBegin
                                                             : TrackEventType::kSliceEnd));
      if (!begin) return;
      event.Bytes(field::kCategories, "jankbox");
      event.Bytes(field::kName, ToValidUtf8(part.mode));
      WriteAnnotation(event, "reason", part.reason);
      if (part.mode == "coarse") {
        WriteAnnotation(event, "clock_error_ns", static_cast<int64_t>(input_.clock_error_ns));
      }
    });
  });
}

void ProcessTracks::WriteIncidentEdge(uint64_t boottime_ns, bool begin) {
  namespace field = perfetto::track_event;
  using perfetto::TrackEventType;
  const SnapshotTrigger& trigger = input_.trigger;
  WriteProcessPacket(writer_, boottime_ns, [&](ProtoWriter& packet) {
    packet.Message(perfetto::trace_packet::kTrackEvent, [&](ProtoWriter& event) {
      event.Varint(field::kTrackUuid, TrackUuid(TrackKind::kIncident, input_.process.pid, 0));
      event.Varint(field::kType, static_cast<uint64_t>(begin ? TrackEventType::kSliceBegin
                                                             : TrackEventType::kSliceEnd));
      if (!begin) return;
      event.Bytes(field::kCategories, "jankbox");
      event.Bytes(field::kName,
                  ToValidUtf8(trigger.title.empty() ? "jankbox." + trigger.kind : trigger.title));
      WriteAnnotation(event, "kind", trigger.kind);
      WriteAnnotation(event, "report_id", trigger.report_id);
      WriteAnnotation(event, "tid", trigger.tid);
    });
  });
}

}  // namespace jankbox

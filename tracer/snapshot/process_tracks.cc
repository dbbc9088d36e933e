#include "tracer/snapshot/process_tracks.h"

#include <algorithm>

#include "tracer/perfetto/track_descriptor.h"
#include "tracer/perfetto/track_uuid.h"
#include "tracer/snapshot/annotated_slices.h"
#include "tracer/snapshot/incident_tracks.h"
#include "tracer/snapshot/sequence_ids.h"

namespace jankbox {
namespace {

constexpr std::string_view kRecordingTrackName = "Jankbox recording";

// Of the process and of the incident's thread: before all others, whose rank is 0.
constexpr int32_t kFirstRank = -1;

}  // namespace

uint64_t ProcessTracks::process_uuid() const {
  return TrackUuid(TrackKind::kProcess, input_.process.pid, 0);
}

void ProcessTracks::WriteDescriptors() {
  WriteTraceStart(writer_, input_.clock_reading);
  if (ranked_) WriteRankedOrder(writer_);
  IncidentTracks(writer_, input_.incident, input_.process.pid).Describe();
  WriteProcessTrack(writer_, {.uuid = process_uuid(),
                              .pid = input_.process.pid,
                              .name = input_.process.name,
                              .start_boottime_ns = input_.process.start_boottime_ns,
                              .rank = ranked_ ? kFirstRank : 0});
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
                             .name = name,
                             .rank = ranked_ && tid == input_.incident.tid ? kFirstRank : 0});
}

void ProcessTracks::WriteRecording() {
  const bool exact =
      std::all_of(input_.recording.begin(), input_.recording.end(),
                  [](const SnapshotRecording& part) { return part.mode == "exact"; });
  if (exact) return;
  const uint64_t uuid = TrackUuid(TrackKind::kRecording, input_.process.pid, 0);
  WriteTrack(writer_, {.uuid = uuid, .parent_uuid = process_uuid(), .name = kRecordingTrackName});
  AnnotatedSlices slices(writer_, kRecordingSequence);
  for (const SnapshotRecording& part : input_.recording) {
    slices.Write({uuid, part.from_ns, part.to_ns, part.mode}, [&](Annotations& annotations) {
      annotations.Text("reason", part.reason);
      if (part.mode == "coarse") {
        annotations.Number("clock_error_ns", static_cast<int64_t>(input_.clock_error_ns));
      }
    });
  }
}

}  // namespace jankbox

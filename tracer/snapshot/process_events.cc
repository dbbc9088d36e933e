#include "tracer/snapshot/process_events.h"

#include <tuple>

#include "base/compact_sort.h"
#include "tracer/perfetto/track_descriptor.h"
#include "tracer/perfetto/track_uuid.h"
#include "tracer/snapshot/thread_slices.h"

namespace jankbox {

using perfetto::TrackEventType;

ProcessEvents::ProcessEvents(PacketWriter* writer, EventSequence* sequence, SequenceNames* names,
                             const TraceClock& clock, int32_t pid)
    : writer_(writer), sequence_(sequence), names_(names), clock_(clock), pid_(pid) {
  names_->Use(sequence_);
}

ProcessEvents::Counts ProcessEvents::Write(MergedEvents* events, const RingWindow& window) {
  EventRecord event;
  while (writer_->status().ok() && events->Next(&event)) {
    if (!in_window_ && event.ticks >= window.from_ticks) EnterWindow(window.from_ticks);
    Handle(event);
  }
  if (!in_window_) EnterWindow(window.from_ticks);
  CloseAll(window.to_ticks);
  return counts_;
}

// A slice that is open here began earlier: drawn from there, in order of time over all tracks.
void ProcessEvents::EnterWindow(uint64_t from_ticks) {
  in_window_ = true;
  std::vector<std::pair<uint64_t, AsyncKey>> open;
  for (const auto& [key, track] : async_tracks_) {
    for (uint64_t ticks : track.begin_ticks) open.emplace_back(ticks, key);
  }
  CompactSort(&open);
  for (const auto& [ticks, key] : open) {
    WriteAsync(key, &async_tracks_[key], TrackEventType::kSliceBegin, ticks,
               ticks < from_ticks ? uint32_t{kBeganBeforeWindow} : 0);
  }
}

void ProcessEvents::Handle(const EventRecord& event) {
  const uint64_t value = JoinPayload(event.payload[0], event.payload[1]);
  if (event.kind == EventKind::kCounter) {
    if (in_window_) WriteCounter(event, value);
    return;
  }
  const AsyncKey key = {event.id, value};
  if (event.kind == EventKind::kAsyncBegin) {
    AsyncTrack& track = async_tracks_[key];
    track.begin_ticks.push_back(event.ticks);
    if (in_window_) WriteAsync(key, &track, TrackEventType::kSliceBegin, event.ticks, 0);
    return;
  }
  auto it = async_tracks_.find(key);
  if (it == async_tracks_.end() || it->second.begin_ticks.empty()) {
    if (in_window_) ++counts_.unmatched_ends;
    return;
  }
  it->second.begin_ticks.pop_back();
  if (in_window_) WriteAsync(key, &it->second, TrackEventType::kSliceEnd, event.ticks, 0);
}

void ProcessEvents::CloseAll(uint64_t end_ticks) {
  for (auto& [key, track] : async_tracks_) {
    for (; !track.begin_ticks.empty(); track.begin_ticks.pop_back()) {
      WriteAsync(key, &track, TrackEventType::kSliceEnd, end_ticks, kOpenAtWindowEnd);
      ++counts_.open_slices;
    }
  }
}

void ProcessEvents::WriteCounter(const EventRecord& event, uint64_t value) {
  const uint64_t boottime_ns = TimeOf(event.ticks);
  auto [it, inserted] = counter_uuids_.try_emplace(event.id, 0);
  if (inserted) {
    it->second = TrackUuid(TrackKind::kCounter, pid_, event.id);
    WriteTrack(writer_, {.uuid = it->second,
                         .parent_uuid = TrackUuid(TrackKind::kProcess, pid_, 0),
                         .name = names_->MethodText(event.id),
                         .counter = true});
  }
  sequence_->Write(boottime_ns, {.type = TrackEventType::kCounter,
                                 .track_uuid = it->second,
                                 .counter_value = static_cast<int64_t>(value)});
}

void ProcessEvents::WriteAsync(const AsyncKey& key, AsyncTrack* track, TrackEventType type,
                               uint64_t ticks, uint32_t notes) {
  const uint64_t boottime_ns = TimeOf(ticks);
  if (track->uuid == 0) {
    track->uuid = TrackUuid(TrackKind::kAsync, pid_, ++described_async_tracks_);
    WriteTrack(writer_, {.uuid = track->uuid,
                         .parent_uuid = TrackUuid(TrackKind::kProcess, pid_, 0),
                         .name = names_->MethodText(key.first)});
  }
  std::string_view annotations[kMaxNotes];
  TrackEventFields event = {
      .type = type, .track_uuid = track->uuid, .annotations = NoteNames(notes, annotations)};
  if (type == TrackEventType::kSliceBegin) {
    event.category = Category::kAsync;
    event.name_iid = names_->OfMethod(key.first);
    ++counts_.slices;
  }
  sequence_->Write(boottime_ns, event);
}

uint64_t ProcessEvents::TimeOf(uint64_t ticks) {
  const uint64_t boottime_ns = clock_.BoottimeNs(ticks);
  if (!sequence_->started()) sequence_->Start(boottime_ns);
  return boottime_ns;
}

}  // namespace jankbox

#include "tracer/snapshot/marker_tracks.h"

#include "base/compact_sort.h"
#include "tracer/perfetto/track_descriptor.h"
#include "tracer/perfetto/track_uuid.h"

namespace jankbox {

using perfetto::TrackEventType;

MarkerTracks::MarkerTracks(PacketWriter* writer, EventSequence* sequence, SequenceNames* names,
                           const TraceClock& clock, int32_t pid)
    : writer_(writer), sequence_(sequence), names_(names), clock_(clock), pid_(pid) {
  names_->Use(sequence_);
}

MarkerTracks::Counts MarkerTracks::Write(std::vector<MarkerRef>* markers,
                                         const RingWindow& window) {
  CompactSort(markers, [](const MarkerRef& a, const MarkerRef& b) { return a.ticks < b.ticks; });
  for (const MarkerRef& marker : *markers) {
    if (!writer_->status().ok()) return counts_;
    if (!in_window_ && marker.ticks >= window.from_ticks) EnterWindow(window.from_ticks);
    const std::string text = MarkerText(marker.record);
    Handle(ParseMarker(text), marker.ticks);
  }
  if (!in_window_) EnterWindow(window.from_ticks);
  CloseAll(window.to_ticks);
  return counts_;
}

// An end has the key of its start.
MarkerTracks::Key MarkerTracks::KeyOf(const MarkerParts& marker) {
  switch (marker.kind) {
    case MarkerKind::kTrackBegin:
    case MarkerKind::kTrackEnd:
      return {'G', std::string(marker.track), marker.value};
    case MarkerKind::kTrackInstant:
      return {'N', std::string(marker.track), 0};
    case MarkerKind::kCounter:
      return {'C', std::string(marker.name), 0};
    default:
      return {'S', std::string(marker.name), marker.value};
  }
}

void MarkerTracks::Handle(const MarkerParts& marker, uint64_t ticks) {
  const Key key = KeyOf(marker);
  switch (marker.kind) {
    case MarkerKind::kAsyncBegin:
    case MarkerKind::kTrackBegin: {
      const OpenSlice slice = {ticks, std::string(marker.name)};
      tracks_[key].open.push_back(slice);
      if (in_window_) BeginSlice(key, slice, 0);
      break;
    }
    case MarkerKind::kAsyncEnd:
    case MarkerKind::kTrackEnd:
      EndSlice(key, ticks);
      break;
    default: {
      if (!in_window_) return;
      const uint64_t boottime_ns = TimeOf(ticks);
      const bool counter = marker.kind == MarkerKind::kCounter;
      TrackEventFields event = {
          .type = counter ? TrackEventType::kCounter : TrackEventType::kInstant,
          .track_uuid = Describe(key, &tracks_[key]),
          .counter_value = marker.value};
      if (!counter) {
        event.category = Category::kAtrace;
        event.name_iid = names_->OfText(std::string(marker.name));
      }
      sequence_->Write(boottime_ns, event);
    }
  }
}

void MarkerTracks::EndSlice(const Key& key, uint64_t ticks) {
  const auto track = tracks_.find(key);
  if (track == tracks_.end() || track->second.open.empty()) {
    if (in_window_) ++counts_.unmatched_ends;
    return;
  }
  track->second.open.pop_back();
  if (!in_window_) return;
  const uint64_t boottime_ns = TimeOf(ticks);
  sequence_->Write(boottime_ns,
                   {.type = TrackEventType::kSliceEnd, .track_uuid = track->second.uuid});
}

// A slice that is open here began earlier: drawn from there, in order of time over all tracks.
void MarkerTracks::EnterWindow(uint64_t from_ticks) {
  in_window_ = true;
  std::vector<std::pair<OpenSlice, const Key*>> open;
  for (const auto& [key, track] : tracks_) {
    for (const OpenSlice& slice : track.open) open.emplace_back(slice, &key);
  }
  CompactSort(&open, [](const auto& a, const auto& b) { return a.first.ticks < b.first.ticks; });
  for (const auto& [slice, key] : open) {
    BeginSlice(*key, slice, slice.ticks < from_ticks ? uint32_t{kBeganBeforeWindow} : 0);
  }
}

void MarkerTracks::CloseAll(uint64_t end_ticks) {
  const uint64_t boottime_ns = TimeOf(end_ticks);
  std::string_view annotations[kMaxNotes];
  for (auto& [key, track] : tracks_) {
    for (; !track.open.empty(); track.open.pop_back()) {
      sequence_->Write(boottime_ns, {.type = TrackEventType::kSliceEnd,
                                     .track_uuid = track.uuid,
                                     .annotations = NoteNames(kOpenAtWindowEnd, annotations)});
      ++counts_.open_slices;
    }
  }
}

void MarkerTracks::BeginSlice(const Key& key, const OpenSlice& slice, uint32_t notes) {
  const uint64_t boottime_ns = TimeOf(slice.ticks);
  std::string_view annotations[kMaxNotes];
  sequence_->Write(boottime_ns, {.type = TrackEventType::kSliceBegin,
                                 .track_uuid = Describe(key, &tracks_[key]),
                                 .category = Category::kAtrace,
                                 .name_iid = names_->OfText(slice.name),
                                 .annotations = NoteNames(notes, annotations)});
  ++counts_.slices;
}

uint64_t MarkerTracks::Describe(const Key& key, Track* track) {
  if (track->uuid != 0) return track->uuid;
  track->uuid = TrackUuid(TrackKind::kMarkers, pid_, ++described_);
  WriteTrack(writer_, {.uuid = track->uuid,
                       .parent_uuid = TrackUuid(TrackKind::kProcess, pid_, 0),
                       .name = std::get<1>(key),
                       .counter = std::get<0>(key) == 'C'});
  return track->uuid;
}

uint64_t MarkerTracks::TimeOf(uint64_t ticks) {
  const uint64_t boottime_ns = clock_.BoottimeNs(ticks);
  if (!sequence_->started()) sequence_->Start(boottime_ns);
  return boottime_ns;
}

}  // namespace jankbox

#include "tools/merge/app_rewrite.h"

#include <algorithm>

#include "tools/merge/capture_facts.h"

namespace jankbox::tools {
namespace {

using traceproto::TracePacket;

constexpr uint64_t kFirstNewTrack = uint64_t{0x6a62} << 48;

template <typename Number>
Number Free(std::set<Number>* used, Number from) {
  while (from == 0 || used->contains(from)) ++from;
  used->insert(from);
  return from;
}

template <typename Map, typename Number>
Number Mapped(const Map& map, Number number) {
  const auto found = map.find(number);
  return found == map.end() ? number : found->second;
}

}  // namespace

AppRewriter::AppRewriter(const AppTrace& app, const OtherTrace& other, int64_t shift_ns)
    : other_(other), shift_ns_(shift_ns) {
  used_sequences_ = app.ids.sequences;
  used_sequences_.insert(other.ids.sequences.begin(), other.ids.sequences.end());
  used_tracks_ = app.ids.track_uuids;
  used_tracks_.insert(other.ids.track_uuids.begin(), other.ids.track_uuids.end());
  std::set<int64_t> cookies = app.ids.frame_cookies;
  cookies.insert(other.ids.frame_cookies.begin(), other.ids.frame_cookies.end());
  for (const uint32_t id : app.ids.sequences) {
    if (other.ids.sequences.contains(id)) sequences_[id] = NewSequence();
  }
  for (const uint64_t uuid : app.ids.track_uuids) {
    if (other.ids.track_uuids.contains(uuid)) tracks_[uuid] = NewTrack();
  }
  for (const int64_t cookie : app.ids.frame_cookies) {
    if (other.ids.frame_cookies.contains(cookie)) cookies_[cookie] = Free<int64_t>(&cookies, 1);
  }
}

uint32_t AppRewriter::NewSequence() { return Free<uint32_t>(&used_sequences_, 1); }
uint64_t AppRewriter::NewTrack() { return Free<uint64_t>(&used_tracks_, kFirstNewTrack); }
uint64_t AppRewriter::MappedTrack(uint64_t uuid) const { return Mapped(tracks_, uuid); }

bool AppRewriter::StampIsBoottime(const TracePacket& packet) {
  uint32_t& clock = default_clocks_.try_emplace(packet.trusted_packet_sequence_id(), kBoottimeClock)
                        .first->second;
  if (packet.trace_packet_defaults().has_timestamp_clock_id()) {
    clock = packet.trace_packet_defaults().timestamp_clock_id();
  }
  return (packet.has_timestamp_clock_id() ? packet.timestamp_clock_id() : clock) == kBoottimeClock;
}

bool AppRewriter::Rewrite(TracePacket* packet) {
  const bool boottime = StampIsBoottime(*packet);
  if (packet->has_timestamp() && boottime) packet->set_timestamp(Shifted(packet->timestamp()));
  packet->set_trusted_packet_sequence_id(Mapped(sequences_, packet->trusted_packet_sequence_id()));
  if (packet->has_track_descriptor()) RewriteTrack(packet->mutable_track_descriptor());
  if (packet->has_clock_snapshot()) RewriteClocks(packet->mutable_clock_snapshot());
  if (packet->has_frame_timeline_event()) RewriteFrame(packet->mutable_frame_timeline_event());
  if (packet->track_event().has_track_uuid()) {
    packet->mutable_track_event()->set_track_uuid(MappedTrack(packet->track_event().track_uuid()));
  }
  if (packet->trace_packet_defaults().track_event_defaults().has_track_uuid()) {
    auto* defaults = packet->mutable_trace_packet_defaults()->mutable_track_event_defaults();
    defaults->set_track_uuid(MappedTrack(defaults->track_uuid()));
  }
  if (packet->has_process_tree()) {
    RewriteTasks(packet->mutable_process_tree());
    return packet->process_tree().threads_size() > 0;
  }
  if (!packet->has_ftrace_events()) return true;
  RewriteBundle(packet->mutable_ftrace_events());
  // A packet that opens its sequence stays, even if it is empty.
  return packet->ftrace_events().event_size() > 0 || packet->first_packet_on_sequence();
}

// The app's trace knows of other programs only that their threads are not its own.
void AppRewriter::RewriteTasks(traceproto::ProcessTree* tree) const {
  auto* threads = tree->mutable_threads();
  const auto is_known = [this](const traceproto::ProcessTree::Thread& thread) {
    return other_.knows_processes || other_.threads.contains(thread.tid());
  };
  threads->erase(std::remove_if(threads->begin(), threads->end(), is_known), threads->end());
}

void AppRewriter::RewriteTrack(traceproto::TrackDescriptor* descriptor) {
  descriptor->set_uuid(MappedTrack(descriptor->uuid()));
  if (descriptor->has_parent_uuid()) {
    descriptor->set_parent_uuid(MappedTrack(descriptor->parent_uuid()));
  }
  if (descriptor->process().has_start_timestamp_ns()) {
    auto* process = descriptor->mutable_process();
    process->set_start_timestamp_ns(process->start_timestamp_ns() + shift_ns_);
  }
}

void AppRewriter::RewriteClocks(traceproto::ClockSnapshot* snapshot) {
  // A trace has one primary clock: the capture's, if it says another.
  if (other_.primary_clock != 0 && other_.primary_clock != kBoottimeClock) {
    snapshot->clear_primary_trace_clock();
  }
  if (shift_ns_ == 0) return;
  // Moved: the app's other clocks would contradict the capture's.
  auto* clocks = snapshot->mutable_clocks();
  for (auto& clock : *clocks) {
    if (clock.clock_id() == kBoottimeClock) clock.set_timestamp(Shifted(clock.timestamp()));
  }
  clocks->erase(std::remove_if(clocks->begin(), clocks->end(),
                               [](const auto& clock) {
                                 return !clock.is_incremental() &&
                                        clock.clock_id() != kBoottimeClock;
                               }),
                clocks->end());
}

void AppRewriter::RewriteFrame(traceproto::FrameTimelineEvent* frame) {
  if (cookies_.empty()) return;
  const auto rewrite = [&](auto* cookie) {
    cookie->set_cookie(Mapped(cookies_, cookie->cookie()));
  };
  if (frame->has_expected_surface_frame_start()) {
    rewrite(frame->mutable_expected_surface_frame_start());
  }
  if (frame->has_actual_surface_frame_start()) {
    rewrite(frame->mutable_actual_surface_frame_start());
  }
  if (frame->has_frame_end()) rewrite(frame->mutable_frame_end());
}

void AppRewriter::RewriteBundle(traceproto::FtraceEventBundle* bundle) {
  auto* events = bundle->mutable_event();
  const auto is_there = [&](const traceproto::FtraceEvent& event) {
    return other_.kinds.contains(KindName(event)) && event.timestamp() >= other_.from_ns &&
           event.timestamp() <= other_.to_ns;
  };
  const int before = events->size();
  events->erase(std::remove_if(events->begin(), events->end(), is_there), events->end());
  dropped_kernel_events_ += static_cast<uint64_t>(before - events->size());
  for (auto& event : *events) event.set_timestamp(Shifted(event.timestamp()));
}

}  // namespace jankbox::tools

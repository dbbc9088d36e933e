#include "tools/merge/app_trace.h"

#include <algorithm>
#include <unordered_map>

#include "symbolize/packets/packet_stream.h"
#include "tools/merge/ftrace_bundle.h"

namespace jankbox::tools {
namespace {

using traceproto::TracePacket;
using traceproto::TrackEvent;

constexpr uint32_t kRealtime = 1;
constexpr uint32_t kMonotonic = 3;
constexpr size_t kMaxEvents = 64 << 20;  // 2 GiB of them: no report's

Status Corrupt(const std::string& why) { return Status(StatusCode::kCorrupt, why); }

// The state of one writer sequence.
struct Sequence {
  uint32_t default_clock = kBoottimeClock;
  uint64_t default_track = 0;
  uint32_t delta_clock = 0;  // id; 0: none
  uint64_t unit_ns = 1;
  uint64_t delta_boottime_ns = 0;
  std::unordered_map<uint64_t, uint32_t> names;  // by iid

  void SetClock(const traceproto::ClockSnapshot& snapshot) {
    for (const auto& clock : snapshot.clocks()) {
      if (!clock.is_incremental()) continue;
      delta_clock = clock.clock_id();
      unit_ns = std::max<uint64_t>(clock.unit_multiplier_ns(), 1);
      delta_boottime_ns = ReadClocks(snapshot).boottime_ns;
    }
  }

  bool TimeOf(const TracePacket& packet, uint64_t* boottime_ns) {
    const uint32_t clock =
        packet.has_timestamp_clock_id() ? packet.timestamp_clock_id() : default_clock;
    if (clock == kBoottimeClock) {
      *boottime_ns = packet.timestamp();
      return packet.has_timestamp();
    }
    if (clock != delta_clock || clock == 0) return false;
    delta_boottime_ns += packet.timestamp() * unit_ns;
    *boottime_ns = delta_boottime_ns;
    return true;
  }
};

class Decoder {
 public:
  Status Take(const TracePacket& packet) {
    ++trace_.packets;
    CollectIds(packet, &trace_.ids);
    Sequence& sequence = sequences_[packet.trusted_packet_sequence_id()];
    if (packet.has_clock_snapshot()) {
      sequence.SetClock(packet.clock_snapshot());
      if (trace_.clocks.boottime_ns == 0) trace_.clocks = ReadClocks(packet.clock_snapshot());
    }
    if (packet.has_trace_packet_defaults()) {
      const auto& defaults = packet.trace_packet_defaults();
      if (defaults.has_timestamp_clock_id()) sequence.default_clock = defaults.timestamp_clock_id();
      sequence.default_track = defaults.track_event_defaults().track_uuid();
    }
    for (const auto& name : packet.interned_data().event_names()) {
      sequence.names[name.iid()] = Name(name.name());
    }
    trace_.says_kernel |= packet.system_info().utsname().has_release();
    if (packet.has_track_descriptor()) TakeTrack(packet.track_descriptor());
    if (packet.has_track_event()) return TakeEvent(packet, &sequence);
    if (packet.has_ftrace_events()) {
      for (auto& event : EventsOf(packet.ftrace_events())) {
        Widen(event.event().timestamp());
        trace_.kernel_events.push_back(std::move(event));
      }
    } else if (packet.has_timestamp()) {  // what else moves the sequence's clock
      uint64_t ns;
      if (sequence.TimeOf(packet, &ns)) Widen(ns);
    }
    return Status::Ok();
  }

  Result<AppTrace> Finish() {
    if (trace_.clocks.boottime_ns == 0 || trace_.pid == 0) {
      return Corrupt("its trace says no clocks or no process: not a report of Jankbox");
    }
    std::stable_sort(trace_.events.begin(), trace_.events.end(),
                     [](const AppEvent& a, const AppEvent& b) { return a.ts_ns < b.ts_ns; });
    std::stable_sort(
        trace_.kernel_events.begin(), trace_.kernel_events.end(),
        [](const auto& a, const auto& b) { return a.event().timestamp() < b.event().timestamp(); });
    for (auto& event : trace_.kernel_events) NameTask(&event);
    return std::move(trace_);
  }

 private:
  uint32_t Name(const std::string& text) {
    const auto [found, added] =
        name_index_.try_emplace(text, static_cast<uint32_t>(trace_.names.size()));
    if (added) trace_.names.push_back(text);
    return found->second;
  }

  uint32_t Track(uint64_t uuid) {
    const auto [found, added] =
        track_index_.try_emplace(uuid, static_cast<uint32_t>(trace_.tracks.size()));
    if (added) trace_.tracks.push_back({.uuid = uuid});
    return found->second;
  }

  void TakeTrack(const traceproto::TrackDescriptor& descriptor) {
    AppTrack& track = trace_.tracks[Track(descriptor.uuid())];
    track.name = descriptor.name();
    track.parent_uuid = descriptor.parent_uuid();
    if (descriptor.has_process()) {
      trace_.pid = descriptor.process().pid();
      trace_.process_uuid = descriptor.uuid();
      trace_.process_name = descriptor.process().process_name();
    }
    if (descriptor.has_thread()) {
      track.tid = static_cast<int32_t>(descriptor.thread().tid());
      trace_.threads[track.tid] = descriptor.thread().thread_name();
    }
  }

  Status TakeEvent(const TracePacket& packet, Sequence* sequence) {
    const TrackEvent& event = packet.track_event();
    AppEvent read{
        .ts_ns = 0, .value = event.counter_value(), .track = 0, .name = 0, .type = event.type()};
    if (!sequence->TimeOf(packet, &read.ts_ns)) return Corrupt("an event of an unknown clock");
    if (trace_.events.size() == kMaxEvents) return Corrupt("too many events");
    read.track = Track(event.has_track_uuid() ? event.track_uuid() : sequence->default_track);
    if (event.has_name_iid()) {
      const auto name = sequence->names.find(event.name_iid());
      if (name == sequence->names.end()) return Corrupt("an event's name was never interned");
      read.name = name->second;
    } else {
      read.name = Name(event.name());
    }
    Widen(read.ts_ns);
    trace_.events.push_back(read);
    return Status::Ok();
  }

  void Widen(uint64_t ns) {
    trace_.first_ns = trace_.first_ns == 0 ? ns : std::min(trace_.first_ns, ns);
    trace_.last_ns = std::max(trace_.last_ns, ns);
  }

  // Of a thread that the trace describes: its name and process.
  void NameTask(traceproto::CapturedEvent* event) {
    const auto thread = trace_.threads.find(static_cast<int32_t>(event->event().pid()));
    if (thread == trace_.threads.end()) return;
    event->set_comm(thread->second);
    event->set_tgid(trace_.pid);
  }

  AppTrace trace_;
  std::unordered_map<uint32_t, Sequence> sequences_;
  std::unordered_map<std::string, uint32_t> name_index_;
  std::unordered_map<uint64_t, uint32_t> track_index_;
};

}  // namespace

void CollectIds(const TracePacket& packet, TraceIds* ids) {
  if (packet.trusted_packet_sequence_id() != 0) {
    ids->sequences.insert(packet.trusted_packet_sequence_id());
  }
  if (packet.has_track_descriptor()) ids->track_uuids.insert(packet.track_descriptor().uuid());
  if (packet.track_event().has_track_uuid()) {
    ids->track_uuids.insert(packet.track_event().track_uuid());
  }
  const auto& frame = packet.frame_timeline_event();
  const auto take = [ids](const auto& start) {
    if (start.has_cookie()) ids->frame_cookies.insert(start.cookie());
  };
  take(frame.expected_display_frame_start());
  take(frame.actual_display_frame_start());
  take(frame.expected_surface_frame_start());
  take(frame.actual_surface_frame_start());
}

KernelClocks ReadClocks(const traceproto::ClockSnapshot& snapshot) {
  KernelClocks clocks;
  for (const auto& clock : snapshot.clocks()) {
    if (clock.clock_id() == kBoottimeClock) clocks.boottime_ns = clock.timestamp();
    if (clock.clock_id() == kMonotonic) clocks.monotonic_ns = clock.timestamp();
    if (clock.clock_id() == kRealtime) clocks.realtime_ns = clock.timestamp();
  }
  return clocks;
}

Result<AppTrace> ReadAppTrace(std::string_view file) {
  Decoder decoder;
  ByteSource source(file);
  Status status =
      ForEachPacket(&source, [&](TracePacket* packet) { return decoder.Take(*packet); });
  if (!status.ok()) return status;
  return decoder.Finish();
}

}  // namespace jankbox::tools

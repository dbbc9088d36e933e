#include "tests/perfetto/trace_reader.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "tests/perfetto/ftrace_content.h"
#include "tests/perfetto/message_check.h"
#include "tests/perfetto/sequence_state.h"
#include "tests/perfetto/trace.pb.h"

namespace jankbox::testing {
namespace {

// Readers need not give a trace more memory than this (2 MiB).
constexpr int kMaxWindowLog = 21;

using testproto::TracePacket;
using testproto::TrackEvent;

class Reader {
 public:
  Reader(std::string* error, Switches switches)
      : error_(error), of_jankbox_(switches == Switches::kAll), ftrace_(switches) {}

  bool Read(const testproto::Trace& trace) {
    for (const TracePacket& packet : trace.packet()) {
      if (!ReadPacket(packet)) {
        *error_ +=
            " in packet " + std::to_string(content_.packets) + ": " + packet.ShortDebugString();
        return false;
      }
      ++content_.packets;
    }
    if (!open_frames_.empty()) return Fail("frame without an end");
    if (of_jankbox_ && !CheckTopTracks()) return false;
    if (!ftrace_.Finish(&content_, error_)) return false;
    return Replay();
  }

  TraceContent Take() { return std::move(content_); }

 private:
  // A track event with what its sequence said of it.
  struct Event {
    uint64_t ts;
    uint64_t track_uuid;
    uint32_t sequence = 0;
    TrackEvent event;
    std::string name;
    std::string category;
  };

  bool Fail(const std::string& what) {
    *error_ = what;
    return false;
  }

  bool ReadPacket(const TracePacket& packet) {
    *error_ = CheckMessage(packet);
    if (!error_->empty()) return false;
    if (packet.trusted_packet_sequence_id() == 0) return Fail("no sequence id");
    SequenceState& state = sequences_[packet.trusted_packet_sequence_id()];
    if (!state.Update(packet, error_)) return false;
    if (packet.has_clock_snapshot() && content_.clocks.empty()) {
      if (packet.clock_snapshot().primary_trace_clock() != 6)
        return Fail("trace is not in BOOTTIME");
      for (const auto& clock : packet.clock_snapshot().clocks()) {
        content_.clocks[clock.clock_id()] = clock.timestamp();
      }
    }
    if (packet.has_track_descriptor()) return ReadTrackDescriptor(packet);
    if (packet.has_track_event()) return ReadTrackEvent(packet, &state);
    if (packet.has_process_tree()) return ReadProcessTree(packet.process_tree());
    if (packet.has_system_info()) {
      content_.kernel_release = packet.system_info().utsname().release();
    }
    if (packet.has_ftrace_events()) {
      return ftrace_.Add(packet.ftrace_events(), error_) && ReadMarks(packet.ftrace_events());
    }
    if (packet.has_perf_sample()) return ReadPerfSample(packet, &state);
    if (packet.has_module_symbols()) return ReadSymbols(packet.module_symbols());
    if (packet.has_frame_timeline_event()) return ReadFrameEvent(packet, &state);
    if (packet.has_trigger()) {
      uint64_t ts;
      if (!state.TimeOf(packet, &ts, error_)) return false;
      const uint32_t sequence = packet.trusted_packet_sequence_id();
      if (thread_sequences_.contains(sequence)) return Fail("trigger of a random thread");
      content_.triggers.push_back(
          {ts, sequence, packet.trigger().trigger_name(), packet.trigger().producer_name()});
    }
    return true;
  }

  bool ReadTrackDescriptor(const TracePacket& packet) {
    const testproto::TrackDescriptor& descriptor = packet.track_descriptor();
    if (descriptor.uuid() == 0) return ReadOrder(descriptor);
    ReadTrack track = {
        .name = descriptor.name(),
        .parent_uuid = descriptor.parent_uuid(),
        .process = descriptor.has_process(),
        .counter = descriptor.has_counter(),
        .description = descriptor.description(),
        .ranks_children = descriptor.child_ordering() == testproto::TrackDescriptor::EXPLICIT,
        .rank = descriptor.sibling_order_rank()};
    if (descriptor.has_process()) {
      content_.pid = descriptor.process().pid();
      content_.process_name = descriptor.process().process_name();
      content_.process_start_ns = descriptor.process().start_timestamp_ns();
    } else if (track.parent_uuid != 0 && !content_.tracks.contains(track.parent_uuid)) {
      return Fail("parent track not described");
    }
    if (descriptor.has_thread()) {
      track.tid = static_cast<int32_t>(descriptor.thread().tid());
      if (descriptor.thread().pid() != content_.pid) return Fail("thread of another process");
      content_.threads[track.tid] = descriptor.thread().thread_name();
      thread_sequences_.insert(packet.trusted_packet_sequence_id());
    }
    content_.tracks_in_order.push_back(descriptor.uuid());
    if (!content_.tracks.emplace(descriptor.uuid(), track).second) {
      return Fail("track described twice");
    }
    return true;
  }

  // Uuid 0 stands for all tracks: it may say only how processes and threads are ordered.
  bool ReadOrder(const testproto::TrackDescriptor& descriptor) {
    content_.ranked = descriptor.process_ordering() != 0 && descriptor.thread_ordering() != 0;
    testproto::TrackDescriptor rest = descriptor;
    rest.clear_uuid();
    rest.clear_process_ordering();
    rest.clear_thread_ordering();
    return (descriptor.has_uuid() && content_.ranked && rest.ByteSizeLong() == 0) ||
           Fail("track uuid 0");
  }

  bool IsAboveProcesses(uint64_t uuid) const {
    const ReadTrack& track = content_.tracks.at(uuid);
    return track.parent_uuid != 0 ? IsAboveProcesses(track.parent_uuid)
                                  : !track.process && track.tid == 0;
  }

  // Viewers put a track above the processes into a closed group unless there are events below it;
  // older ones merge all of them that have one name.
  bool CheckTopTracks() {
    std::set<std::string> names;
    std::set<uint64_t> with_events;
    for (const Event& event : events_) {
      // A print of a thread that has no track is on a made-up one.
      const auto track = content_.tracks.find(event.track_uuid);
      if (track != content_.tracks.end()) with_events.insert(track->second.parent_uuid);
    }
    for (const auto& [uuid, track] : content_.tracks) {
      if (!IsAboveProcesses(uuid)) continue;
      if (!names.insert(track.name).second) return Fail("two tracks called " + track.name);
      if (track.parent_uuid == 0 && !with_events.contains(uuid)) {
        return Fail("no events below " + track.name);
      }
    }
    return true;
  }

  bool ReadProcessTree(const testproto::ProcessTree& tree) {
    for (const auto& process : tree.processes()) {
      content_.other_processes[process.pid()] =
          process.cmdline_size() > 0 ? process.cmdline(0) : "";
    }
    for (const auto& thread : tree.threads()) {
      if (thread.tid() == 0 || thread.tgid() == 0) return Fail("thread of no process");
      content_.other_threads[thread.tid()] = thread.tgid();
    }
    return true;
  }

  bool ReadTrackEvent(const TracePacket& packet, SequenceState* state) {
    Event read = {.sequence = packet.trusted_packet_sequence_id(), .event = packet.track_event()};
    if (!state->TimeOf(packet, &read.ts, error_)) return false;
    read.track_uuid =
        read.event.has_track_uuid() ? read.event.track_uuid() : state->default_track_uuid();
    if (!content_.tracks.contains(read.track_uuid)) return Fail("track not described");
    // Importers take the thread that a sequence described last for the writer of its events.
    if (of_jankbox_ && thread_sequences_.contains(read.sequence)) {
      return Fail("event of a random thread");
    }
    read.name = read.event.name();
    if (read.event.has_name_iid()) {
      const std::string* name = state->Name(read.event.name_iid());
      if (name == nullptr) return Fail("event name not interned");
      read.name = *name;
    }
    for (const std::string& category : read.event.categories()) read.category = category;
    for (uint64_t iid : read.event.category_iids()) {
      const std::string* category = state->Category(iid);
      if (category == nullptr) return Fail("category not interned");
      read.category = *category;
    }
    events_.push_back(std::move(read));
    return true;
  }

  // Markers of a thread stand on its own track, as its other slices do.
  bool ReadMarks(const testproto::FtraceEventBundle& bundle) {
    for (const testproto::FtraceEvent& event : bundle.event()) {
      std::string text = event.print().buf();
      if (!event.has_print()) continue;
      if (text.empty() || text.back() != '\n') return Fail("marker without its line break");
      text.pop_back();
      const bool begin = text.rfind("B|", 0) == 0;
      if (!begin && text != "E" && text.rfind("E|", 0) != 0) {
        content_.other_marks.push_back(text);
        continue;
      }
      Event read = {.ts = event.timestamp(), .track_uuid = ~static_cast<uint64_t>(event.pid())};
      for (const auto& [uuid, track] : content_.tracks) {
        if (track.tid == static_cast<int32_t>(event.pid())) read.track_uuid = uuid;
      }
      read.category = "ftrace";
      read.event.set_type(begin ? TrackEvent::TYPE_SLICE_BEGIN : TrackEvent::TYPE_SLICE_END);
      if (begin) read.name = text.substr(text.find('|', 2) + 1);
      events_.push_back(std::move(read));
    }
    return true;
  }

  // As importers, which know only the frames that came before.
  bool ReadSymbols(const testproto::ModuleSymbols& module) {
    for (const testproto::AddressSymbols& symbols : module.address_symbols()) {
      const ReadAddress address(module.path(), module.build_id(), symbols.address());
      if (!frames_of_stacks_.contains(address)) return Fail("names for a frame that is none");
      if (symbols.lines().empty()) return Fail("an address without names");
      std::vector<ReadLine>& lines = content_.symbols[address];
      if (!lines.empty()) return Fail("an address is named twice");
      for (const testproto::Line& line : symbols.lines()) {
        lines.push_back({line.function_name(), line.source_file_name(), line.line_number()});
      }
    }
    return true;
  }

  bool ReadPerfSample(const TracePacket& packet, SequenceState* state) {
    const testproto::PerfSample& sample = packet.perf_sample();
    ReadSample read = {.pid = static_cast<int32_t>(sample.pid()),
                       .tid = static_cast<int32_t>(sample.tid()),
                       .unwind_error = sample.unwind_error()};
    if (!state->TimeOf(packet, &read.ts, error_)) return false;
    if (sample.has_callstack_iid() &&
        !state->Callstack(sample.callstack_iid(), &read.frames, error_)) {
      return false;
    }
    for (const ReadFrameOfStack& frame : read.frames) {
      frames_of_stacks_.emplace("/" + frame.module, frame.build_id, frame.rel_pc);
    }
    content_.samples.push_back(std::move(read));
    return true;
  }

  bool ReadFrameEvent(const TracePacket& packet, SequenceState* state) {
    const testproto::FrameTimelineEvent& event = packet.frame_timeline_event();
    uint64_t ts;
    if (!state->TimeOf(packet, &ts, error_)) return false;
    if (event.has_frame_end()) {
      auto it = open_frames_.find(event.frame_end().cookie());
      if (it == open_frames_.end()) return Fail("frame end without its begin");
      content_.frames[it->second].dur = ts - content_.frames[it->second].ts;
      open_frames_.erase(it);
      return true;
    }
    if (event.has_expected_surface_frame_start()) {
      return OpenFrame(event.expected_surface_frame_start(), {.actual = false, .ts = ts});
    }
    if (!event.has_actual_surface_frame_start()) return Fail("empty frame event");
    const auto& actual = event.actual_surface_frame_start();
    return OpenFrame(actual, {.actual = true,
                              .ts = ts,
                              .present_type = actual.present_type(),
                              .jank_type = actual.jank_type(),
                              .on_time_finish = actual.on_time_finish()});
  }

  template <typename Start>
  bool OpenFrame(const Start& start, ReadSurfaceFrame frame) {
    if (!start.has_cookie() || !start.has_token() || !start.has_display_frame_token() ||
        !start.has_pid()) {
      return Fail("frame lacks a field that importers require");
    }
    frame.token = start.token();
    frame.pid = start.pid();
    frame.layer = start.layer_name();
    if (!open_frames_.emplace(start.cookie(), content_.frames.size()).second) {
      return Fail("frame cookie used twice");
    }
    content_.frames.push_back(frame);
    return true;
  }

  // All events in order of time, as an importer sorts them, onto their tracks.
  bool Replay() {
    std::stable_sort(events_.begin(), events_.end(),
                     [](const Event& a, const Event& b) { return a.ts < b.ts; });
    for (const Event& event : events_) {
      switch (event.event.type()) {
        case TrackEvent::TYPE_SLICE_BEGIN:
          if (event.name.empty()) return Fail("slice without a name");
          OpenSlice(event);
          break;
        case TrackEvent::TYPE_SLICE_END:
          if (!CloseSlice(event)) return Fail("slice end without its begin");
          break;
        case TrackEvent::TYPE_INSTANT:
          if (event.name.empty()) return Fail("instant without a name");
          if (!ReadInstantEvent(event)) return Fail("flow ends that never began");
          break;
        case TrackEvent::TYPE_COUNTER: {
          const ReadTrack& track = content_.tracks[event.track_uuid];
          if (!track.counter || track.name.empty()) return Fail("not a counter track");
          content_.counters.push_back({event.ts, track.name, event.event.counter_value()});
          break;
        }
        default:
          return Fail("event without a type");
      }
    }
    for (const auto& [uuid, stack] : open_slices_) {
      if (!stack.empty()) {
        return Fail("slice without its end: " + content_.slices[stack.back()].name);
      }
    }
    return true;
  }

  bool ReadInstantEvent(const Event& event) {
    ReadInstant instant = {.ts = event.ts,
                           .name = event.name,
                           .tid = content_.tracks[event.track_uuid].tid,
                           .category = event.category,
                           .flows = {event.event.flow_ids().begin(), event.event.flow_ids().end()},
                           .ended_flows = {event.event.terminating_flow_ids().begin(),
                                           event.event.terminating_flow_ids().end()}};
    open_flows_.insert(instant.flows.begin(), instant.flows.end());
    for (uint64_t flow : instant.ended_flows) {
      if (open_flows_.erase(flow) == 0) return false;
    }
    content_.instants.push_back(std::move(instant));
    return true;
  }

  void OpenSlice(const Event& event) {
    std::vector<size_t>& stack = open_slices_[event.track_uuid];
    const ReadTrack& track = content_.tracks[event.track_uuid];
    ReadSlice slice = {.ts = event.ts,
                       .depth = static_cast<uint32_t>(stack.size()),
                       .name = event.name,
                       .category = event.category,
                       .track = track.name,
                       .tid = track.tid,
                       .track_uuid = event.track_uuid,
                       .sequence = event.sequence};
    Annotate(event.event, &slice);
    stack.push_back(content_.slices.size());
    content_.slices.push_back(std::move(slice));
  }

  bool CloseSlice(const Event& event) {
    std::vector<size_t>& stack = open_slices_[event.track_uuid];
    if (stack.empty()) return false;
    ReadSlice& slice = content_.slices[stack.back()];
    if ((slice.category == "ftrace") != (event.category == "ftrace")) return false;
    slice.dur = event.ts - slice.ts;
    Annotate(event.event, &slice);
    stack.pop_back();
    return true;
  }

  static void Annotate(const TrackEvent& event, ReadSlice* slice) {
    for (const auto& annotation : event.debug_annotations()) {
      AddAnnotation(annotation, annotation.name(), slice);
    }
  }

  static void AddAnnotation(const testproto::DebugAnnotation& annotation, const std::string& name,
                            ReadSlice* slice) {
    if (annotation.bool_value()) slice->flags.insert(name);
    if (annotation.has_string_value()) slice->annotations[name] = annotation.string_value();
    if (annotation.has_int_value()) {
      slice->annotations[name] = std::to_string(annotation.int_value());
    }
    if (annotation.has_double_value()) {
      slice->annotations[name] = std::to_string(annotation.double_value());
    }
    for (const auto& entry : annotation.dict_entries()) {
      AddAnnotation(entry, name + "." + entry.name(), slice);
    }
    for (int i = 0; i < annotation.array_values_size(); ++i) {
      AddAnnotation(annotation.array_values(i), name + "[" + std::to_string(i) + "]", slice);
    }
  }

  std::string* error_;
  const bool of_jankbox_;  // else it was joined with another tool's
  TraceContent content_;
  FtraceContent ftrace_;
  std::map<uint32_t, SequenceState> sequences_;
  std::set<uint32_t> thread_sequences_;  // that describe threads
  std::set<ReadAddress> frames_of_stacks_;
  std::vector<Event> events_;
  std::map<uint64_t, std::vector<size_t>> open_slices_;  // by track: indexes into slices
  std::set<uint64_t> open_flows_;
  std::map<int64_t, size_t> open_frames_;  // by cookie: index into frames
};

}  // namespace

std::string DecompressTrace(std::string_view bytes, std::string* error) {
  error->clear();
  if (bytes.size() < 4 || bytes.substr(0, 4) != "\x28\xb5\x2f\xfd") return std::string(bytes);
  std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  ZSTD_inBuffer in = {bytes.data(), bytes.size(), 0};
  std::string trace;
  std::string piece(1 << 17, '\0');
  ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  size_t left = 0;
  bool more_to_come = false;
  while (in.pos < in.size || more_to_come) {
    ZSTD_outBuffer out = {piece.data(), piece.size(), 0};
    left = ZSTD_decompressStream(context.get(), &out, &in);
    more_to_come = out.pos == out.size && left != 0;  // 0: the frame is out
    if (ZSTD_isError(left)) {
      *error = ZSTD_getErrorName(left);
      return {};
    }
    trace.append(piece.data(), out.pos);
  }
  if (left != 0) *error = "compressed trace is cut off";
  return trace;
}

TraceContent ReadTrace(std::string_view bytes, std::string* error, Switches switches) {
  const std::string plain = DecompressTrace(bytes, error);
  if (!error->empty()) return {};
  testproto::Trace trace;
  if (!trace.ParseFromString(plain)) {
    *error = "not a trace";
    return {};
  }
  Reader reader(error, switches);
  if (!reader.Read(trace)) return {};
  return reader.Take();
}

}  // namespace jankbox::testing

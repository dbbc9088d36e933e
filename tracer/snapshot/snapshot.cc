#include "tracer/snapshot/snapshot.h"

#include <algorithm>
#include <bit>
#include <map>

#include "base/compact_sort.h"
#include "tracer/perfetto/event_sequence.h"
#include "tracer/perfetto/frame_timeline.h"
#include "tracer/perfetto/packet_writer.h"
#include "tracer/perfetto/perf_samples.h"
#include "tracer/perfetto/track_descriptor.h"
#include "tracer/perfetto/track_uuid.h"
#include "tracer/snapshot/incident_tracks.h"
#include "tracer/snapshot/kernel_tracks.h"
#include "tracer/snapshot/marker_tracks.h"
#include "tracer/snapshot/merged_events.h"
#include "tracer/snapshot/process_events.h"
#include "tracer/snapshot/process_tracks.h"
#include "tracer/snapshot/sample_runs.h"
#include "tracer/snapshot/sample_slices.h"
#include "tracer/snapshot/sequence_ids.h"
#include "tracer/snapshot/sequence_names.h"
#include "tracer/snapshot/thread_slices.h"
#include "tracer/snapshot/thread_tracks.h"
#include "tracer/snapshot/trace_clock.h"
#include "tracer/snapshot/wake_up_flows.h"
#include "tracer/snapshot/zstd_stream.h"

namespace jankbox {
namespace {

static_assert(PacketWriter::kBufferBytes <= ZstdStream::kMaxPieceBytes);

// A loop's own work around the one handler that it calls, which nobody would look for.
constexpr double kHandlerSlackNs = 100'000;

class SnapshotWriter {
 public:
  SnapshotWriter(const SnapshotInput& input, PacketWriter* writer)
      : input_(input),
        window_(*input.window),
        writer_(writer),
        clock_(input.clock, window_.to_ticks),
        names_(input.names),
        lives_(window_, input.thread_names),
        tracks_(writer, input, &lives_) {}

  SnapshotStats Write() {
    KernelTracks kernel(writer_, &tracks_, input_.process.pid);
    tracks_.WriteDescriptors();
    IncidentTracks(writer_, input_.incident, input_.process.pid).Write();
    tracks_.WriteRecording();
    for (size_t i = 0; i < window_.threads.size(); ++i) WriteThread(i);
    WriteProcessEvents();
    WriteMarkers();
    WriteFrameTimeline(writer_,
                       {.sequence_id = kFrameSequence,
                        .pid = input_.process.pid,
                        .layer_name = input_.process.name},
                       aside_.frames);
    if (input_.kernel != nullptr) kernel.WriteStates(*input_.kernel);
    WriteSamples();
    if (input_.kernel != nullptr) stats_.kernel_events = kernel.WriteEvents(*input_.kernel);
    WriteThreadTracks();
    WriteWakeUps();
    stats_.torn_events += aside_.malformed;
    stats_.unknown_markers = aside_.unknown_markers;
    stats_.unnamed_methods = names_.unnamed_methods();
    return stats_;
  }

 private:
  EventSequence::Options SequenceOptions(uint32_t sequence_id, uint64_t default_track_uuid) const {
    return {.sequence_id = sequence_id,
            .default_track_uuid = default_track_uuid,
            .unit_ns = input_.time_unit_ns,
            .clock_reading = input_.clock_reading};
  }

  // If a later thread took over the tid, the earlier one ended: they share a track.
  uint64_t EndTicks(size_t index) const {
    const int32_t tid = window_.threads[index].tid;
    for (size_t i = index + 1; i < window_.threads.size(); ++i) {
      const WindowThread& later = window_.threads[i];
      if (later.tid == tid && !later.chunks.empty()) {
        return std::min(window_.to_ticks, later.chunks.front().base_ticks);
      }
    }
    return window_.to_ticks;
  }

  void WriteThread(size_t index) {
    const WindowThread& thread = window_.threads[index];
    const uint64_t end_ticks = EndTicks(index);
    const double ns_per_tick = std::max(input_.clock.ns_per_tick(), 1e-9);
    const auto slack_ticks = static_cast<uint64_t>(kHandlerSlackNs / ns_per_tick);
    ThreadSlices slices(writer_, SequenceOptions(next_sequence_++, tracks_.ThreadUuid(index)),
                        clock_, &names_, &lives_, &aside_,
                        FindHandlerDispatches(thread, end_ticks, slack_ticks));
    const ThreadEvents::Counts counts =
        ThreadEvents(window_.from_ticks, end_ticks, &slices).Walk(thread);
    stats_.slices += slices.slices();
    stats_.unmatched_ends += counts.unmatched_ends;
    stats_.open_slices += counts.open_slices - slices.joined_open();
    stats_.torn_events += counts.torn_events;
    stats_.repaired_slices += counts.repaired_slices;
    if (counts.has_process_events) process_event_threads_.push_back(&thread);
  }

  void WriteProcessEvents() {
    if (process_event_threads_.empty()) return;
    EventSequence sequence(writer_, SequenceOptions(kProcessEventSequence, 0));
    MergedEvents events(process_event_threads_, window_.to_ticks);
    const ProcessEvents::Counts counts =
        ProcessEvents(writer_, &sequence, &names_, clock_, input_.process.pid)
            .Write(&events, window_);
    stats_.slices += counts.slices;
    stats_.unmatched_ends += counts.unmatched_ends;
    stats_.open_slices += counts.open_slices;
  }

  void WriteMarkers() {
    if (aside_.markers.empty()) return;
    EventSequence sequence(writer_, SequenceOptions(kMarkerSequence, 0));
    const MarkerTracks::Counts counts =
        MarkerTracks(writer_, &sequence, &names_, clock_, input_.process.pid)
            .Write(&aside_.markers, window_);
    stats_.slices += counts.slices;
    stats_.unmatched_ends += counts.unmatched_ends;
    stats_.open_slices += counts.open_slices;
  }

  void WriteThreadTracks() {
    EventSequence sequence(writer_, SequenceOptions(kThreadTrackSequence, 0));
    stats_.slices += ThreadTracks(writer_, &sequence, &names_, &tracks_, clock_)
                         .Write(lives_, window_, input_.process.pid);
  }

  void WriteWakeUps() {
    EventSequence sequence(writer_, SequenceOptions(kWakeUpSequence, 0));
    WriteWakeUpFlows(input_.incident.wake_ups, &tracks_, &names_, &sequence);
  }

  void WriteSamples() {
    CompactSort(&aside_.samples, [](const SampleRef& a, const SampleRef& b) {
      return a.boottime_ns < b.boottime_ns;
    });
    PerfSamples perf(writer_, kSampleSequence, input_.process.pid, input_.frames);
    std::map<int32_t, std::vector<SampleRef>> by_tid;
    StackSample sample;
    for (const SampleRef& ref : aside_.samples) {
      if (!DecodeSampleRecord(ref.payload, &sample)) continue;
      perf.Write(ref.boottime_ns, sample);
      if (sample.source != SampleSource::kCreation) by_tid[ref.tid].push_back(ref);
      ++stats_.samples;
    }
    for (const auto& [tid, samples] : by_tid) WriteSampleSlices(tid, samples);
  }

  void WriteSampleSlices(int32_t tid, const std::vector<SampleRef>& samples) {
    SampleRunFinder finder(samples, clock_);
    for (size_t i = window_.threads.size(); i > 0; --i) {
      if (window_.threads[i - 1].tid != tid) continue;
      ThreadEvents(window_.from_ticks, window_.to_ticks, &finder).Walk(window_.threads[i - 1]);
      break;
    }
    const SampleTracks tracks = {
        .thread_uuid = tracks_.UuidOfTid(tid),
        .sampled_uuid =
            TrackUuid(TrackKind::kSampledStack, input_.process.pid, static_cast<uint32_t>(tid))};
    WriteTrack(
        writer_,
        {.uuid = tracks.sampled_uuid, .parent_uuid = tracks.thread_uuid, .name = "sampled stack"});
    EventSequence sequence(writer_, SequenceOptions(next_sequence_++, 0));
    names_.Use(&sequence);
    SampleSlices slices(&sequence, &names_, input_.frames, tracks, input_.time_unit_ns);
    stats_.slices += slices.Write(samples, finder.TakeRuns());
  }

  const SnapshotInput& input_;
  const RingWindow& window_;
  PacketWriter* writer_;
  TraceClock clock_;
  SequenceNames names_;
  ThreadLives lives_;
  ProcessTracks tracks_;
  SetAside aside_;
  std::vector<const WindowThread*> process_event_threads_;
  uint32_t next_sequence_ = kFirstThreadSequence;
  SnapshotStats stats_;
};

}  // namespace

Result<SnapshotStats> WriteSnapshot(const SnapshotInput& input, const SnapshotSink& sink) {
  if (input.window == nullptr) return Status(StatusCode::kInvalidArgument, "no window");
  if (!std::has_single_bit(input.time_unit_ns)) {
    return Status(StatusCode::kInvalidArgument, "time unit must be a power of two");
  }
  ZstdStream stream(sink);
  PacketWriter writer([&](std::string_view bytes) { return stream.Write(bytes); });
  SnapshotStats stats = SnapshotWriter(input, &writer).Write();
  if (Status status = writer.Finish(); !status.ok()) return status;
  stats.trace_bytes = writer.bytes();
  if (Status status = stream.Finish(); !status.ok()) return status;
  return stats;
}

}  // namespace jankbox

#include "bench/snapshot_encode/protobuf_encoders.h"

#include <google/protobuf/arena.h>

#include <memory>
#include <vector>

#include "tracer/perfetto/trace.pb.h"

namespace jankbox::bench {
namespace {

namespace proto = traceproto;

constexpr uint32_t kStateCleared = 1;
constexpr uint32_t kNeedsState = 2;
constexpr uint32_t kBoottime = 6;
constexpr uint32_t kSequenceClock = 64;
constexpr size_t kPacketsAPiece = 512;
constexpr size_t kArenaBytes = 256 << 10;  // of a piece

// Adds packets to traces on an arena; the full one is serialized after `out` and a new one begun.
class TraceWriter {
 public:
  TraceWriter(size_t packets_a_piece, google::protobuf::ArenaOptions options)
      : packets_a_piece_(packets_a_piece), arena_(options) {
    Begin();
  }

  proto::TracePacket* AddPacket() {
    if (packets_a_piece_ != 0 && packets_ == packets_a_piece_) Flush();
    ++packets_;
    return trace_->add_packet();
  }

  std::string Take() {
    Flush();
    return std::move(out_);
  }

 private:
  void Begin() { trace_ = google::protobuf::Arena::CreateMessage<proto::Trace>(&arena_); }
  void Flush() {
    trace_->AppendToString(&out_);
    arena_.Reset();
    packets_ = 0;
    Begin();
  }

  const size_t packets_a_piece_;
  google::protobuf::Arena arena_;
  proto::Trace* trace_ = nullptr;
  size_t packets_ = 0;
  std::string out_;
};

class ThreadSequence {
 public:
  ThreadSequence(TraceWriter* writer, const Workload& workload, size_t index, Timestamps timestamps)
      : writer_(writer),
        workload_(workload),
        thread_(workload.threads[index]),
        sequence_id_(static_cast<uint32_t>(index + 1)),
        timestamps_(timestamps),
        iids_(workload.names.size()) {}

  void Write() {
    if (thread_.events.empty()) return;
    WriteHead();
    for (const WorkloadEvent& event : thread_.events) WriteEvent(event);
  }

 private:
  uint64_t TrackUuid() const { return 1000 + static_cast<uint64_t>(thread_.tid); }

  void WriteHead() {
    proto::TracePacket* descriptor = writer_->AddPacket();
    descriptor->set_trusted_packet_sequence_id(sequence_id_);
    descriptor->mutable_track_descriptor()->set_uuid(TrackUuid());
    descriptor->mutable_track_descriptor()->mutable_thread()->set_pid(workload_.pid);
    descriptor->mutable_track_descriptor()->mutable_thread()->set_tid(thread_.tid);
    proto::TracePacket* start = writer_->AddPacket();
    start->set_trusted_packet_sequence_id(sequence_id_);
    start->set_sequence_flags(kStateCleared);
    proto::TracePacketDefaults* defaults = start->mutable_trace_packet_defaults();
    defaults->mutable_track_event_defaults()->set_track_uuid(TrackUuid());
    if (timestamps_ == Timestamps::kAbsolute) return;
    defaults->set_timestamp_clock_id(kSequenceClock);
    last_ns_ = thread_.events.front().timestamp_ns;
    proto::ClockSnapshot* clocks = start->mutable_clock_snapshot();
    AddClock(clocks, kBoottime, false);
    AddClock(clocks, kSequenceClock, true);
  }

  void AddClock(proto::ClockSnapshot* clocks, uint32_t id, bool incremental) const {
    proto::ClockSnapshot::Clock* clock = clocks->add_clocks();
    clock->set_clock_id(id);
    clock->set_timestamp(last_ns_);
    if (incremental) clock->set_is_incremental(true);
  }

  void WriteEvent(const WorkloadEvent& event) {
    proto::TracePacket* packet = writer_->AddPacket();
    packet->set_timestamp(event.timestamp_ns - last_ns_);
    if (timestamps_ == Timestamps::kDelta) last_ns_ = event.timestamp_ns;
    packet->set_trusted_packet_sequence_id(sequence_id_);
    packet->set_sequence_flags(kNeedsState);
    proto::TrackEvent* track_event = packet->mutable_track_event();
    if (!event.begin) {
      track_event->set_type(proto::TrackEvent::TYPE_SLICE_END);
      return;
    }
    track_event->set_type(proto::TrackEvent::TYPE_SLICE_BEGIN);
    uint32_t& iid = iids_[event.name];
    if (iid == 0) {
      iid = ++last_iid_;
      proto::EventName* name = packet->mutable_interned_data()->add_event_names();
      name->set_iid(iid);
      name->set_name(workload_.names[event.name]);
    }
    track_event->set_name_iid(iid);
  }

  TraceWriter* writer_;
  const Workload& workload_;
  const WorkloadThread& thread_;
  const uint32_t sequence_id_;
  const Timestamps timestamps_;
  uint64_t last_ns_ = 0;  // stays 0 with absolute ones
  uint32_t last_iid_ = 0;
  std::vector<uint32_t> iids_;  // by name; 0: not interned yet
};

std::string Encode(TraceWriter* writer, const Workload& workload, Timestamps timestamps) {
  for (size_t i = 0; i < workload.threads.size(); ++i) {
    ThreadSequence(writer, workload, i, timestamps).Write();
  }
  return writer->Take();
}

}  // namespace

std::string EncodeTrackEvents(const Workload& workload, Timestamps timestamps) {
  TraceWriter writer(0, {});
  return Encode(&writer, workload, timestamps);
}

std::string EncodeTrackEventsInPieces(const Workload& workload, Timestamps timestamps) {
  const std::unique_ptr<char[]> memory(new char[kArenaBytes]);
  google::protobuf::ArenaOptions options;
  options.initial_block = memory.get();
  options.initial_block_size = kArenaBytes;
  TraceWriter writer(kPacketsAPiece, options);
  return Encode(&writer, workload, timestamps);
}

std::string EncodeFtracePrints(const Workload& workload) {
  TraceWriter writer(0, {});
  const std::string pid = std::to_string(workload.pid);
  uint32_t cpu = 0;
  for (const WorkloadThread& thread : workload.threads) {
    proto::FtraceEventBundle* bundle = writer.AddPacket()->mutable_ftrace_events();
    bundle->set_cpu(cpu++);
    for (const WorkloadEvent& event : thread.events) {
      proto::FtraceEvent* print = bundle->add_event();
      print->set_timestamp(event.timestamp_ns);
      print->set_pid(static_cast<uint32_t>(thread.tid));
      std::string* text = print->mutable_print()->mutable_buf();
      *text = event.begin ? "B|" + pid + "|" + workload.names[event.name] : "E|" + pid;
    }
  }
  return writer.Take();
}

}  // namespace jankbox::bench

#include "tracer/snapshot/kernel_tracks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/utf8.h"
#include "tracer/perfetto/ftrace_bundles.h"
#include "tracer/perfetto/trace_fields.h"
#include "tracer/perfetto/track_descriptor.h"
#include "tracer/perfetto/track_uuid.h"
#include "tracer/snapshot/trace_clock.h"

namespace jankbox {
namespace {

// Beyond those of threads and of the recording mode.
constexpr uint32_t kFtraceSequence = (1u << 30) + 1;
constexpr uint32_t kSourceSequence = (1u << 30) + 2;

constexpr uint64_t kBurstGapNs = 1'000'000;

namespace field = perfetto::track_event;

// Slices with annotations, all on one sequence.
class SliceWriter {
 public:
  explicit SliceWriter(PacketWriter* writer, uint32_t sequence_id)
      : writer_(writer), sequence_id_(sequence_id) {}

  struct Slice {
    uint64_t track_uuid;
    uint64_t from_ns;
    uint64_t to_ns;
    std::string_view name;
  };

  template <typename Annotate>
  void Write(const Slice& slice, Annotate&& annotate) {
    const uint64_t from_ns = std::min(slice.from_ns, TraceClock::kMaxNs);
    const uint64_t to_ns = std::clamp(slice.to_ns, from_ns, TraceClock::kMaxNs);
    Event(slice.track_uuid, from_ns, perfetto::TrackEventType::kSliceBegin,
          [&](ProtoWriter& event) {
            event.Bytes(field::kCategories, "jankbox");
            event.Bytes(field::kName, slice.name);
            annotate(event);
          });
    Event(slice.track_uuid, to_ns, perfetto::TrackEventType::kSliceEnd, [](ProtoWriter&) {});
  }

  static void Text(ProtoWriter& event, std::string_view name, std::string_view value) {
    event.Message(field::kDebugAnnotations, [&](ProtoWriter& annotation) {
      annotation.Bytes(perfetto::debug_annotation::kName, name);
      annotation.Bytes(perfetto::debug_annotation::kStringValue, ToValidUtf8(value));
    });
  }
  static void Number(ProtoWriter& event, std::string_view name, uint64_t value) {
    event.Message(field::kDebugAnnotations, [&](ProtoWriter& annotation) {
      annotation.Bytes(perfetto::debug_annotation::kName, name);
      annotation.Varint(perfetto::debug_annotation::kIntValue, value);
    });
  }

 private:
  template <typename Body>
  void Event(uint64_t track_uuid, uint64_t time_ns, perfetto::TrackEventType type, Body&& body) {
    writer_->Packet([&](ProtoWriter& packet) {
      packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, sequence_id_);
      packet.Varint(perfetto::trace_packet::kSequenceFlags,
                    first_ ? perfetto::trace_packet::kSeqIncrementalStateCleared
                           : perfetto::trace_packet::kSeqNeedsIncrementalState);
      if (first_) packet.Bool(perfetto::trace_packet::kFirstPacketOnSequence, true);
      first_ = false;
      packet.Varint(perfetto::trace_packet::kTimestamp, time_ns);
      packet.Message(perfetto::trace_packet::kTrackEvent, [&](ProtoWriter& event) {
        event.Varint(field::kTrackUuid, track_uuid);
        event.Varint(field::kType, static_cast<uint64_t>(type));
        body(event);
      });
    });
  }

  PacketWriter* writer_;
  const uint32_t sequence_id_;
  bool first_ = true;
};

std::string_view SourceName(KernelWindow::Source source) {
  switch (source) {
    case KernelWindow::Source::kFtrace:
      return "ftrace";
    case KernelWindow::Source::kOwnSwitches:
      return "own context switches";
    case KernelWindow::Source::kNone:
      break;
  }
  return "none";
}

}  // namespace

std::vector<FaultBurst> FindFaultBursts(const std::vector<KernelEvent>& events, uint64_t cost_ns) {
  std::map<int32_t, std::vector<FaultBurst>> by_tid;
  for (const KernelEvent& event : events) {
    if (event.kind != KernelEventKind::kPageFault) continue;
    std::vector<FaultBurst>& bursts = by_tid[event.tid];
    if (bursts.empty() || event.time > bursts.back().to_ns + kBurstGapNs) {
      bursts.push_back({.tid = event.tid, .from_ns = event.time});
    }
    ++bursts.back().faults;
    bursts.back().to_ns = event.time + cost_ns;
  }
  std::vector<FaultBurst> all;
  for (const auto& [tid, bursts] : by_tid) all.insert(all.end(), bursts.begin(), bursts.end());
  for (FaultBurst& burst : all) {
    burst.estimated_ns = std::min(burst.faults * cost_ns, burst.to_ns - burst.from_ns);
  }
  return all;
}

uint64_t KernelTracks::Write(const KernelWindow& kernel) {
  WriteSource(kernel);
  DescribeThreads(kernel);
  WriteFaults(kernel);
  WriteOffCpu(kernel);
  return WriteFtraceBundles(writer_, kFtraceSequence, kernel);
}

// Threads that recorded nothing have no descriptor yet, and importers would not know their process.
void KernelTracks::DescribeThreads(const KernelWindow& kernel) {
  const std::set<int32_t> own(kernel.own_threads.begin(), kernel.own_threads.end());
  for (const KernelEvent& event : kernel.events) {
    if (event.kind != KernelEventKind::kSwitch) continue;
    for (int32_t tid : {event.sched.prev_pid, event.sched.next_pid}) {
      if (own.contains(tid)) tracks_->UuidOfTid(tid);
    }
  }
}

void KernelTracks::WriteSource(const KernelWindow& kernel) {
  const uint64_t uuid = TrackUuid(TrackKind::kKernelSource, pid_, 0);
  WriteTrack(
      writer_,
      {.uuid = uuid, .parent_uuid = tracks_->process_uuid(), .name = "Jankbox kernel events"});
  SliceWriter(writer_, kSourceSequence)
      .Write({uuid, kernel.from_ns, kernel.to_ns, SourceName(kernel.source)},
             [&](ProtoWriter& event) {
               if (!kernel.reason.empty()) SliceWriter::Text(event, "reason", kernel.reason);
               if (kernel.source != KernelWindow::Source::kFtrace) return;
               SliceWriter::Text(event, "trace_clock", kernel.trace_clock);
               SliceWriter::Number(event, "clock_error_ns", kernel.clock_error_ns);
               SliceWriter::Number(event, "lost_events", kernel.lost_events);
               SliceWriter::Number(event, "untold_switches", kernel.untold_switches);
             });
}

uint64_t KernelTracks::DescribeBelow(int32_t tid, TrackKind kind, std::string_view name) {
  const uint64_t uuid = TrackUuid(kind, pid_, static_cast<uint32_t>(tid));
  WriteTrack(writer_, {.uuid = uuid, .parent_uuid = tracks_->UuidOfTid(tid), .name = name});
  return uuid;
}

// Each track on a sequence of its own: their times are not in order among each other.
void KernelTracks::WriteFaults(const KernelWindow& kernel) {
  int32_t tid = 0;
  uint64_t uuid = 0;
  std::optional<SliceWriter> slices;
  for (const FaultBurst& burst : FindFaultBursts(kernel.events, kernel.page_fault_cost_ns)) {
    if (!slices || burst.tid != tid) {
      tid = burst.tid;
      uuid = DescribeBelow(tid, TrackKind::kPageFaults, "page faults (estimate)");
      slices.emplace(writer_, next_sequence_++);
    }
    slices->Write({uuid, burst.from_ns, burst.to_ns, "page faults"}, [&](ProtoWriter& event) {
      SliceWriter::Number(event, "faults", burst.faults);
      SliceWriter::Number(event, "estimated_ns", burst.estimated_ns);
      SliceWriter::Text(event, "basis", "estimate: faults times what one costs");
    });
  }
}

void KernelTracks::WriteOffCpu(const KernelWindow& kernel) {
  int32_t tid = 0;
  uint64_t uuid = 0;
  std::optional<SliceWriter> slices;
  for (const OffCpu& off : kernel.off_cpu) {
    if (!slices || off.tid != tid) {
      tid = off.tid;
      uuid = DescribeBelow(tid, TrackKind::kOffCpu, "off the CPU");
      slices.emplace(writer_, next_sequence_++);
    }
    slices->Write({uuid, off.from_ns, off.to_ns, off.preempted ? "preempted" : "waiting"},
                  [](ProtoWriter&) {});
  }
}

}  // namespace jankbox

#include "tracer/perfetto/frame_timeline.h"

#include <algorithm>
#include <tuple>

#include "base/compact_sort.h"
#include "base/text/private_text.h"
#include "tracer/perfetto/trace_fields.h"

namespace jankbox {
namespace {

namespace field = perfetto::frame_timeline_event;
namespace surface = field::actual_surface_frame_start;
namespace expected = field::expected_surface_frame_start;
// WriteBegin() writes these for both.
static_assert(expected::kCookie == surface::kCookie && expected::kToken == surface::kToken &&
              expected::kDisplayFrameToken == surface::kDisplayFrameToken &&
              expected::kPid == surface::kPid && expected::kLayerName == surface::kLayerName);

struct Edge {
  // Ends before starts at the same moment, but an empty slice's end after its start.
  enum Order : uint8_t { kEnd = 0, kBegin = 1, kEndOfEmpty = 2 };

  uint64_t time_ns;
  Order order;
  bool actual;
  uint32_t frame;  // index

  uint64_t cookie() const { return uint64_t{frame} * 2 + (actual ? 2 : 1); }
};

void AddEdges(std::vector<Edge>* edges, uint64_t begin_ns, uint64_t end_ns, Edge edge) {
  edge.order = Edge::kBegin;
  edge.time_ns = begin_ns;
  edges->push_back(edge);
  edge.order = end_ns > begin_ns ? Edge::kEnd : Edge::kEndOfEmpty;
  edge.time_ns = std::max(begin_ns, end_ns);
  edges->push_back(edge);
}

std::vector<Edge> SortedEdges(const std::vector<TimelineFrame>& frames) {
  std::vector<Edge> edges;
  edges.reserve(frames.size() * 4);
  for (uint32_t i = 0; i < frames.size(); ++i) {
    AddEdges(&edges, frames[i].expected_start_ns, frames[i].deadline_ns,
             {.actual = false, .frame = i});
    AddEdges(&edges, frames[i].start_ns, frames[i].end_ns, {.actual = true, .frame = i});
  }
  CompactSort(&edges, [](const Edge& a, const Edge& b) {
    return std::tie(a.time_ns, a.order) < std::tie(b.time_ns, b.order);
  });
  return edges;
}

// The fields of an actual frame.
struct Outcome {
  bool on_time_finish = true;
  uint32_t present_type = field::kPresentOnTime;
  uint32_t jank_type = field::kJankNone;
  uint32_t severity = field::kSeverityNone;
};

Outcome OutcomeOf(const TimelineFrame& frame) {
  Outcome outcome;
  outcome.on_time_finish = frame.end_ns <= frame.deadline_ns;
  if (frame.discarded) {
    outcome.present_type = field::kPresentDropped;
    outcome.jank_type = field::kJankDropped;
    outcome.severity = field::kSeverityFull;
    return outcome;
  }
  // If the presentation is not known, a frame that was done in time was.
  uint64_t late_ns = frame.end_ns - std::min(frame.end_ns, frame.deadline_ns);
  bool late = late_ns != 0;
  if (frame.presented_ns != 0) {
    late_ns = frame.presented_ns - std::min(frame.presented_ns, frame.expected_present_ns);
    late = late_ns > frame.interval_ns / 2;
  }
  if (!late) return outcome;
  outcome.present_type = field::kPresentLate;
  outcome.jank_type = outcome.on_time_finish ? field::kJankUnknown : field::kJankAppDeadlineMissed;
  outcome.severity = late_ns >= frame.interval_ns ? field::kSeverityFull : field::kSeverityPartial;
  return outcome;
}

std::vector<uint64_t> TokensOf(const std::vector<TimelineFrame>& frames) {
  uint64_t next = 1;
  for (const TimelineFrame& frame : frames) next = std::max(next, frame.vsync_id + 1);
  std::vector<uint64_t> tokens;
  tokens.reserve(frames.size());
  for (const TimelineFrame& frame : frames) {
    tokens.push_back(frame.vsync_id != 0 ? frame.vsync_id : next++);
  }
  return tokens;
}

void WriteBegin(ProtoWriter& event, const Edge& edge, const TimelineFrame& frame, uint64_t token,
                const FrameTimelineOptions& options) {
  const uint32_t kind =
      edge.actual ? field::kActualSurfaceFrameStart : field::kExpectedSurfaceFrameStart;
  event.Message(kind, [&](ProtoWriter& start) {
    start.Varint(surface::kCookie, edge.cookie());
    start.Varint(surface::kToken, token);
    start.Varint(surface::kDisplayFrameToken, token);  // importers refuse a frame without one
    start.Int(surface::kPid, options.pid);
    start.Bytes(surface::kLayerName, SealedText(options.layer_name));
    if (!edge.actual) return;
    const Outcome outcome = OutcomeOf(frame);
    start.Varint(surface::kPresentType, outcome.present_type);
    start.Bool(surface::kOnTimeFinish, outcome.on_time_finish);
    start.Varint(surface::kJankType, outcome.jank_type);
    start.Varint(surface::kPredictionType, field::kPredictionValid);
    start.Varint(surface::kJankSeverityType, outcome.severity);
  });
}

}  // namespace

void WriteFrameTimeline(PacketWriter* writer, const FrameTimelineOptions& options,
                        const std::vector<TimelineFrame>& frames) {
  const std::vector<uint64_t> tokens = TokensOf(frames);
  bool first = true;
  for (const Edge& edge : SortedEdges(frames)) {
    writer->Packet([&](ProtoWriter& packet) {
      packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, options.sequence_id);
      packet.Varint(perfetto::trace_packet::kSequenceFlags,
                    first ? perfetto::trace_packet::kSeqIncrementalStateCleared
                          : perfetto::trace_packet::kSeqNeedsIncrementalState);
      if (first) packet.Bool(perfetto::trace_packet::kFirstPacketOnSequence, true);
      packet.Varint(perfetto::trace_packet::kTimestamp, edge.time_ns);
      packet.Varint(perfetto::trace_packet::kTimestampClockId, perfetto::kBuiltinClockBoottime);
      packet.Message(perfetto::trace_packet::kFrameTimelineEvent, [&](ProtoWriter& event) {
        if (edge.order == Edge::kBegin) {
          WriteBegin(event, edge, frames[edge.frame], tokens[edge.frame], options);
        } else {
          event.Message(field::kFrameEnd, [&](ProtoWriter& end) {
            end.Varint(field::frame_end::kCookie, edge.cookie());
          });
        }
      });
    });
    first = false;
  }
}

}  // namespace jankbox

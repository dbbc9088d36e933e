#include "tracer/snapshot/annotated_slices.h"

#include <algorithm>

#include "base/text/private_text.h"
#include "base/utf8.h"
#include "tracer/snapshot/trace_clock.h"

namespace jankbox {

namespace annotation = perfetto::debug_annotation;
namespace event_field = perfetto::track_event;
using perfetto::TrackEventType;

Annotations::Annotations(ProtoWriter* event) : Annotations(event, event_field::kDebugAnnotations) {}

void Annotations::Text(std::string_view name, std::string_view value) {
  Verbatim(name, SealedText(value));
}

void Annotations::Verbatim(std::string_view name, std::string_view value) {
  writer_->Message(field_, [&](ProtoWriter& message) {
    message.Bytes(annotation::kName, name);
    message.Bytes(annotation::kStringValue, ToValidUtf8(value));
  });
}

void Annotations::Number(std::string_view name, int64_t value) {
  writer_->Message(field_, [&](ProtoWriter& message) {
    message.Bytes(annotation::kName, name);
    message.Int(annotation::kIntValue, value);
  });
}

void Annotations::Ms(std::string_view name, uint64_t ns) {
  writer_->Message(field_, [&](ProtoWriter& message) {
    message.Bytes(annotation::kName, name);
    message.Double(annotation::kDoubleValue, static_cast<double>(ns) / 1e6);
  });
}

void Annotations::List(std::string_view name, const std::vector<std::string>& values) {
  writer_->Message(field_, [&](ProtoWriter& list) {
    list.Bytes(annotation::kName, name);
    for (const std::string& value : values) {
      list.Message(annotation::kArrayValues, [&](ProtoWriter& entry) {
        entry.Bytes(annotation::kStringValue, SealedText(value));
      });
    }
  });
}

uint64_t AnnotatedSlices::FromNs(const Slice& slice) {
  return std::min(slice.from_ns, TraceClock::kMaxNs);
}

uint64_t AnnotatedSlices::ToNs(const Slice& slice) {
  return std::clamp(slice.to_ns, FromNs(slice), TraceClock::kMaxNs);
}

void AnnotatedSlices::End(const Slice& slice) {
  Packet(ToNs(slice), [&](ProtoWriter& packet) {
    packet.Message(perfetto::trace_packet::kTrackEvent, [&](ProtoWriter& event) {
      event.Varint(event_field::kTrackUuid, slice.track_uuid);
      event.Varint(event_field::kType, static_cast<uint64_t>(TrackEventType::kSliceEnd));
    });
  });
}

void AnnotatedSlices::WriteHead(ProtoWriter& packet, uint64_t time_ns) {
  namespace field = perfetto::trace_packet;
  packet.Varint(field::kTrustedPacketSequenceId, sequence_id_);
  packet.Varint(field::kSequenceFlags,
                first_ ? field::kSeqIncrementalStateCleared : field::kSeqNeedsIncrementalState);
  if (first_) packet.Bool(field::kFirstPacketOnSequence, true);
  first_ = false;
  packet.Varint(field::kTimestamp, time_ns);
}

void AnnotatedSlices::WriteBegin(ProtoWriter& event, const Slice& slice) {
  event.Varint(event_field::kTrackUuid, slice.track_uuid);
  event.Varint(event_field::kType, static_cast<uint64_t>(TrackEventType::kSliceBegin));
  event.Bytes(event_field::kCategories, "jankbox");
  event.Bytes(event_field::kName, SealedText(slice.name));
}

}  // namespace jankbox

#include "tracer/perfetto/event_sequence.h"

#include <cstring>
#include <string>

#include "base/text/private_text.h"
#include "tracer/perfetto/clock_snapshot.h"

namespace jankbox {
namespace {

using perfetto::TrackEventType;

constexpr std::string_view kCategoryNames[] = {"method",  "dispatch", "instant", "async",
                                               "sampled", "atrace",   "wait",    "thread"};

uint8_t* WriteField(uint8_t* at, uint32_t field, uint64_t value) {
  return WriteVarint(WriteVarint(at, field << 3), value);
}

// A DebugAnnotation "name": true.
uint8_t* WriteAnnotation(uint8_t* at, std::string_view name) {
  *at++ = perfetto::BytesTag(perfetto::track_event::kDebugAnnotations);
  *at++ = static_cast<uint8_t>(name.size() + 4);
  *at++ = perfetto::BytesTag(perfetto::debug_annotation::kName);
  *at++ = static_cast<uint8_t>(name.size());
  memcpy(at, name.data(), name.size());
  at += name.size();
  *at++ = perfetto::VarintTag(perfetto::debug_annotation::kBoolValue);
  *at++ = 1;
  return at;
}

// A DebugAnnotation "name": value.
uint8_t* WriteAnnotation(uint8_t* at, std::string_view name, int64_t value) {
  uint8_t number[10];
  const auto number_bytes =
      static_cast<size_t>(WriteVarint(number, static_cast<uint64_t>(value)) - number);
  *at++ = perfetto::BytesTag(perfetto::track_event::kDebugAnnotations);
  *at++ = static_cast<uint8_t>(name.size() + 3 + number_bytes);
  *at++ = perfetto::BytesTag(perfetto::debug_annotation::kName);
  *at++ = static_cast<uint8_t>(name.size());
  memcpy(at, name.data(), name.size());
  at += name.size();
  *at++ = perfetto::VarintTag(perfetto::debug_annotation::kIntValue);
  memcpy(at, number, number_bytes);
  return at + number_bytes;
}

uint8_t* WriteFixed64(uint8_t* at, uint32_t field, uint64_t value) {
  at = WriteVarint(at, field << 3 | 1);
  for (int i = 0; i < 8; ++i) *at++ = static_cast<uint8_t>(value >> (8 * i));
  return at;
}

uint8_t* WriteBody(uint8_t* at, const TrackEventFields& event) {
  namespace field = perfetto::track_event;
  at = WriteField(at, field::kType, static_cast<uint64_t>(event.type));
  if (event.category != Category::kNone) {
    at = WriteField(at, field::kCategoryIids, static_cast<uint64_t>(event.category));
  }
  if (event.track_uuid != 0) at = WriteField(at, field::kTrackUuid, event.track_uuid);
  if (event.name_iid != 0) {
    *at++ = perfetto::VarintTag(field::kNameIid);
    at = WriteWideVarint(at, event.name_iid);
  }
  if (event.type == TrackEventType::kCounter) {
    at = WriteField(at, field::kCounterValue, static_cast<uint64_t>(event.counter_value));
  }
  for (std::string_view name : event.annotations) {
    at = WriteAnnotation(at, name.substr(0, EventSequence::kMaxAnnotationBytes));
  }
  for (const IntAnnotation& value : event.values) {
    at = WriteAnnotation(at, value.name.substr(0, EventSequence::kMaxAnnotationBytes), value.value);
  }
  if (event.flow_id != 0) {
    at = WriteFixed64(at, event.flow_ends ? field::kTerminatingFlowIds : field::kFlowIds,
                      event.flow_id);
  }
  return at;
}

}  // namespace

// Bytes that all packets of a kind share come first, bytes that differ last: name and time. A
// packet is then one match, found at its first bytes, and a few literals (decision 10).
EventSequence::EventSequence(PacketWriter* writer, const Options& options)
    : writer_(writer),
      options_(options),
      unit_shift_(static_cast<uint32_t>(std::countr_zero(options.unit_ns))) {
  namespace field = perfetto::track_event;
  begin_ = MakeHead(
      {perfetto::VarintTag(field::kType), static_cast<uint8_t>(TrackEventType::kSliceBegin),
       perfetto::VarintTag(field::kCategoryIids), 0, perfetto::VarintTag(field::kNameIid)});
  end_ = MakeHead(
      {perfetto::VarintTag(field::kType), static_cast<uint8_t>(TrackEventType::kSliceEnd)});
  event_at_ = end_.size - 2;
}

// The packet's length is left open.
EventSequence::Head EventSequence::MakeHead(std::initializer_list<uint8_t> event) const {
  Head head;
  uint8_t* at = head.bytes;
  *at++ = perfetto::BytesTag(perfetto::trace::kPacket);
  *at++ = 0;
  at = WriteField(at, perfetto::trace_packet::kTrustedPacketSequenceId, options_.sequence_id);
  at = WriteField(at, perfetto::trace_packet::kSequenceFlags,
                  perfetto::trace_packet::kSeqNeedsIncrementalState);
  *at++ = perfetto::BytesTag(perfetto::trace_packet::kTrackEvent);
  *at++ = static_cast<uint8_t>(event.size());
  for (uint8_t byte : event) *at++ = byte;
  head.size = static_cast<uint32_t>(at - head.bytes);
  return head;
}

void EventSequence::Start(uint64_t boottime_ns) {
  started_ = true;
  last_units_ = boottime_ns >> unit_shift_;
  writer_->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, options_.sequence_id);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  perfetto::trace_packet::kSeqIncrementalStateCleared);
    packet.Bool(perfetto::trace_packet::kFirstPacketOnSequence, true);
    packet.Message(perfetto::trace_packet::kClockSnapshot, [&](ProtoWriter& snapshot) {
      WriteKernelClocks(snapshot, options_.clock_reading, last_units_ << unit_shift_);
      snapshot.Message(perfetto::clock_snapshot::kClocks, [&](ProtoWriter& clock) {
        clock.Varint(perfetto::clock_snapshot::clock::kClockId, perfetto::kClockOfSequence);
        clock.Varint(perfetto::clock_snapshot::clock::kTimestamp, last_units_);
        clock.Bool(perfetto::clock_snapshot::clock::kIsIncremental, true);
        clock.Varint(perfetto::clock_snapshot::clock::kUnitMultiplierNs, options_.unit_ns);
      });
    });
    packet.Message(perfetto::trace_packet::kTracePacketDefaults, [&](ProtoWriter& defaults) {
      defaults.Varint(perfetto::trace_packet_defaults::kTimestampClockId,
                      perfetto::kClockOfSequence);
      if (options_.default_track_uuid == 0) return;
      defaults.Message(
          perfetto::trace_packet_defaults::kTrackEventDefaults, [&](ProtoWriter& event) {
            event.Varint(perfetto::track_event_defaults::kTrackUuid, options_.default_track_uuid);
          });
    });
    packet.Message(perfetto::trace_packet::kInternedData, [&](ProtoWriter& interned) {
      for (size_t i = 0; i < std::size(kCategoryNames); ++i) {
        interned.Message(perfetto::interned_data::kEventCategories, [&](ProtoWriter& category) {
          category.Varint(perfetto::event_category::kIid, i + 1);
          category.Bytes(perfetto::event_category::kName, kCategoryNames[i]);
        });
      }
    });
  });
}

uint32_t EventSequence::AddName(std::string_view name) {
  const uint32_t iid = ++last_name_iid_;
  writer_->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::trace_packet::kTrustedPacketSequenceId, options_.sequence_id);
    packet.Varint(perfetto::trace_packet::kSequenceFlags,
                  perfetto::trace_packet::kSeqNeedsIncrementalState);
    packet.Message(perfetto::trace_packet::kInternedData, [&](ProtoWriter& interned) {
      interned.Message(perfetto::interned_data::kEventNames, [&](ProtoWriter& event_name) {
        event_name.Varint(perfetto::event_name::kIid, iid);
        const std::string text = SealedText(name);
        // A marker may have no name, but readers need one.
        event_name.Bytes(perfetto::event_name::kName, text.empty() ? "?" : text);
      });
    });
  });
  return iid;
}

void EventSequence::Write(uint64_t boottime_ns, const TrackEventFields& event) {
  uint8_t body[512];  // 58 bytes of numbers, five annotations and three values
  const size_t body_bytes = static_cast<size_t>(WriteBody(body, event) - body);
  uint8_t packet[sizeof(body) + 32];
  const size_t head_bytes = event_at_ - 3;  // after the packet's length, up to the event's
  memcpy(packet, end_.bytes + 2, head_bytes);
  uint8_t* at = WriteVarint(packet + head_bytes, body_bytes);
  memcpy(at, body, body_bytes);
  const uint8_t* const end = WriteTime(at + body_bytes, boottime_ns);
  const size_t packet_bytes = static_cast<size_t>(end - packet);
  at = writer_->Reserve();
  *at++ = perfetto::BytesTag(perfetto::trace::kPacket);
  at = WriteVarint(at, packet_bytes);
  memcpy(at, packet, packet_bytes);
  writer_->Commit(at + packet_bytes);
}

}  // namespace jankbox

#include "tracer/perfetto/event_sequence.h"

#include <cstring>

#include "tracer/perfetto/clock_snapshot.h"

namespace jankbox {
namespace {

using perfetto::TrackEventType;

constexpr uint8_t VarintTag(uint32_t field) { return static_cast<uint8_t>(field << 3); }
constexpr uint8_t BytesTag(uint32_t field) { return static_cast<uint8_t>(field << 3 | 2); }

constexpr std::string_view kCategoryNames[] = {"method", "dispatch", "instant", "async", "sampled"};

uint8_t* WriteField(uint8_t* at, uint32_t field, uint64_t value) {
  return WriteVarint(WriteVarint(at, field << 3), value);
}

// A DebugAnnotation "name": true.
uint8_t* WriteAnnotation(uint8_t* at, std::string_view name) {
  *at++ = BytesTag(perfetto::track_event::kDebugAnnotations);
  *at++ = static_cast<uint8_t>(name.size() + 4);
  *at++ = BytesTag(perfetto::track_event::kAnnotationName);
  *at++ = static_cast<uint8_t>(name.size());
  memcpy(at, name.data(), name.size());
  at += name.size();
  *at++ = VarintTag(perfetto::track_event::kAnnotationBool);
  *at++ = 1;
  return at;
}

uint8_t* WriteBody(uint8_t* at, const TrackEventFields& event) {
  namespace field = perfetto::track_event;
  at = WriteField(at, field::kType, static_cast<uint64_t>(event.type));
  if (event.category != Category::kNone) {
    at = WriteField(at, field::kCategoryIids, static_cast<uint64_t>(event.category));
  }
  if (event.track_uuid != 0) at = WriteField(at, field::kTrackUuid, event.track_uuid);
  if (event.name_iid != 0) at = WriteField(at, field::kNameIid, event.name_iid);
  if (event.type == TrackEventType::kCounter) {
    at = WriteField(at, field::kCounterValue, static_cast<uint64_t>(event.counter_value));
  }
  for (std::string_view name : event.annotations) {
    at = WriteAnnotation(at, name.substr(0, EventSequence::kMaxAnnotationBytes));
  }
  return at;
}

}  // namespace

EventSequence::EventSequence(PacketWriter* writer, const Options& options)
    : writer_(writer),
      options_(options),
      unit_shift_(static_cast<uint32_t>(std::countr_zero(options.unit_ns))) {
  uint8_t* at = WriteField(head_, perfetto::packet::kTrustedSequenceId, options.sequence_id);
  at = WriteField(at, perfetto::packet::kSequenceFlags, perfetto::kNeedsIncrementalState);
  head_bytes_ = static_cast<uint32_t>(at - head_);
}

void EventSequence::Start(uint64_t boottime_ns) {
  started_ = true;
  last_units_ = boottime_ns >> unit_shift_;
  writer_->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::packet::kTrustedSequenceId, options_.sequence_id);
    packet.Varint(perfetto::packet::kSequenceFlags, perfetto::kIncrementalStateCleared);
    packet.Bool(perfetto::packet::kFirstPacketOnSequence, true);
    packet.Message(perfetto::packet::kClockSnapshot, [&](ProtoWriter& snapshot) {
      WriteKernelClocks(snapshot, options_.clock_reading, last_units_ << unit_shift_);
      snapshot.Message(perfetto::clock_snapshot::kClocks, [&](ProtoWriter& clock) {
        clock.Varint(perfetto::clock_snapshot::kClockId, perfetto::kClockOfSequence);
        clock.Varint(perfetto::clock_snapshot::kTimestamp, last_units_);
        clock.Bool(perfetto::clock_snapshot::kIsIncremental, true);
        clock.Varint(perfetto::clock_snapshot::kUnitMultiplierNs, options_.unit_ns);
      });
    });
    packet.Message(perfetto::packet::kTracePacketDefaults, [&](ProtoWriter& defaults) {
      defaults.Varint(perfetto::defaults::kTimestampClockId, perfetto::kClockOfSequence);
      if (options_.default_track_uuid == 0) return;
      defaults.Message(perfetto::defaults::kTrackEventDefaults, [&](ProtoWriter& event) {
        event.Varint(perfetto::track_event::kTrackUuid, options_.default_track_uuid);
      });
    });
    packet.Message(perfetto::packet::kInternedData, [&](ProtoWriter& interned) {
      for (size_t i = 0; i < std::size(kCategoryNames); ++i) {
        interned.Message(perfetto::interned_data::kEventCategories, [&](ProtoWriter& category) {
          category.Varint(perfetto::interned_data::kIid, i + 1);
          category.Bytes(perfetto::interned_data::kString, kCategoryNames[i]);
        });
      }
    });
  });
}

uint64_t EventSequence::AddName(std::string_view name) {
  const uint64_t iid = ++last_name_iid_;
  writer_->Packet([&](ProtoWriter& packet) {
    packet.Varint(perfetto::packet::kTrustedSequenceId, options_.sequence_id);
    packet.Varint(perfetto::packet::kSequenceFlags, perfetto::kNeedsIncrementalState);
    packet.Message(perfetto::packet::kInternedData, [&](ProtoWriter& interned) {
      interned.Message(perfetto::interned_data::kEventNames, [&](ProtoWriter& event_name) {
        event_name.Varint(perfetto::interned_data::kIid, iid);
        event_name.Bytes(perfetto::interned_data::kString, name);
      });
    });
  });
  return iid;
}

// Behind the two bytes of Trace.packet's tag and length: sequence, flags and time.
uint8_t* EventSequence::WriteHead(uint8_t* packet, uint64_t delta) const {
  uint8_t* at = packet + 2;
  *at++ = VarintTag(perfetto::packet::kTimestamp);
  at = WriteVarint(at, delta);
  memcpy(at, head_, sizeof(head_));  // a fixed size is one store; what is too much is overwritten
  return at + head_bytes_;
}

// Packets of the hot loop stay below 128 bytes: the length is one byte.
void EventSequence::EndPacket(uint8_t* packet, uint8_t* end) {
  packet[0] = BytesTag(perfetto::kTracePacket);
  packet[1] = static_cast<uint8_t>(end - packet - 2);
}

void EventSequence::Begin(uint64_t boottime_ns, Category category, uint64_t name_iid) {
  uint8_t* packet = writer_->Reserve();
  uint8_t* at = WriteHead(packet, Advance(boottime_ns));
  *at++ = BytesTag(perfetto::packet::kTrackEvent);
  uint8_t* length = at++;
  *at++ = VarintTag(perfetto::track_event::kType);
  *at++ = static_cast<uint8_t>(TrackEventType::kSliceBegin);
  *at++ = VarintTag(perfetto::track_event::kCategoryIids);
  *at++ = static_cast<uint8_t>(category);
  *at++ = VarintTag(perfetto::track_event::kNameIid);
  at = WriteVarint(at, name_iid);
  *length = static_cast<uint8_t>(at - length - 1);
  EndPacket(packet, at);
  writer_->Commit(at);
}

void EventSequence::End(uint64_t boottime_ns) {
  uint8_t* packet = writer_->Reserve();
  uint8_t* at = WriteHead(packet, Advance(boottime_ns));
  *at++ = BytesTag(perfetto::packet::kTrackEvent);
  *at++ = 2;
  *at++ = VarintTag(perfetto::track_event::kType);
  *at++ = static_cast<uint8_t>(TrackEventType::kSliceEnd);
  EndPacket(packet, at);
  writer_->Commit(at);
}

void EventSequence::Write(uint64_t boottime_ns, const TrackEventFields& event) {
  uint8_t body[256];  // 48 bytes of numbers and four annotations
  const size_t body_bytes = static_cast<size_t>(WriteBody(body, event) - body);
  uint8_t head[32];
  // WriteHead leaves two bytes for a short length; here the length may take two bytes itself.
  const uint8_t* head_end = WriteHead(head, Advance(boottime_ns));
  const size_t head_bytes = static_cast<size_t>(head_end - head) - 2;
  const size_t field_bytes = body_bytes < 128 ? 2 : 3;
  uint8_t* at = writer_->Reserve();
  *at++ = BytesTag(perfetto::kTracePacket);
  at = WriteVarint(at, head_bytes + field_bytes + body_bytes);
  memcpy(at, head + 2, head_bytes);
  at += head_bytes;
  *at++ = BytesTag(perfetto::packet::kTrackEvent);
  at = WriteVarint(at, body_bytes);
  memcpy(at, body, body_bytes);
  writer_->Commit(at + body_bytes);
}

}  // namespace jankbox

// One writer sequence of track events: cleared incremental state, a delta clock of its own and
// interned names. Slices of the default track take the hot path (a few ns, no allocation); anything
// else goes through Write(). Timestamps are ns of BOOTTIME; one before its predecessor is moved up
// to it. One thread; sequences of a trace are written one after another.
#ifndef JANKBOX_TRACER_PERFETTO_EVENT_SEQUENCE_H_
#define JANKBOX_TRACER_PERFETTO_EVENT_SEQUENCE_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/dcheck.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/perfetto/packet_writer.h"
#include "tracer/perfetto/trace_fields.h"

namespace jankbox {

// Interned event categories; the value is the iid.
enum class Category : uint32_t {
  kNone = 0,
  kMethod = 1,
  kDispatch = 2,
  kInstant = 3,
  kAsync = 4,
  kSampled = 5,
  kAtrace = 6,
  kWait = 7,
  kThread = 8,
};

// "name": value.
struct IntAnnotation {
  std::string_view name;
  int64_t value = 0;
};

// A track event in full. Zero fields are left out.
struct TrackEventFields {
  perfetto::TrackEventType type;
  uint64_t track_uuid = 0;  // 0: the sequence's default
  Category category = Category::kNone;
  uint64_t name_iid = 0;
  int64_t counter_value = 0;                           // of kCounter
  std::span<const std::string_view> annotations = {};  // at most five, each "<name>": true
  std::span<const IntAnnotation> values = {};          // at most three
  uint64_t flow_id = 0;                                // joins events to an arrow; 0: none
  bool flow_ends = false;                              // with this event
};

class EventSequence {
 public:
  struct Options {
    uint32_t sequence_id = 0;         // unique in the trace, never 0
    uint64_t default_track_uuid = 0;  // 0: every event names its track
    uint32_t unit_ns = 1;             // a power of two
    ClockReading clock_reading;
  };

  static constexpr size_t kMaxAnnotationBytes = 32;

  EventSequence(PacketWriter* writer, const Options& options);

  // Writes the first packet, whose clock begins at `boottime_ns`. Once.
  [[gnu::cold]] void Start(uint64_t boottime_ns);
  bool started() const { return started_; }

  // Interns `name` and returns its iid. REQUIRES started().
  [[gnu::cold]] uint32_t AddName(std::string_view name);

  // Slices of the default track. Their packets stay below 128 bytes: lengths take one byte.
  // REQUIRES started().
  void Begin(uint64_t boottime_ns, Category category, uint64_t name_iid) {
    DCHECK(started());
    uint8_t* const packet = writer_->Reserve();
    memcpy(packet, begin_.bytes, Head::kMaxBytes);  // a fixed size is a few stores
    uint8_t* at = packet + begin_.size;
    at[-2] = static_cast<uint8_t>(category);
    at = WriteWideVarint(at, name_iid);
    packet[event_at_ - 1] = static_cast<uint8_t>(at - packet - event_at_);
    FinishPacket(packet, at, boottime_ns);
  }
  void End(uint64_t boottime_ns) {
    DCHECK(started());
    uint8_t* const packet = writer_->Reserve();
    memcpy(packet, end_.bytes, Head::kMaxBytes);
    FinishPacket(packet, packet + end_.size, boottime_ns);
  }

  // Any event. REQUIRES started().
  void Write(uint64_t boottime_ns, const TrackEventFields& event);

 private:
  // The clock's units from the last event to this one.
  uint64_t Advance(uint64_t boottime_ns) {
    const uint64_t units = boottime_ns >> unit_shift_;
    if (units <= last_units_) return 0;
    const uint64_t delta = units - last_units_;
    last_units_ = units;
    return delta;
  }
  // The first bytes of a kind's packets, sequence id and flags among them.
  struct Head {
    static constexpr size_t kMaxBytes = 24;
    uint8_t bytes[kMaxBytes] = {};
    uint32_t size = 0;
  };
  Head MakeHead(std::initializer_list<uint8_t> event) const;
  uint8_t* WriteTime(uint8_t* at, uint64_t boottime_ns) {
    *at++ = perfetto::VarintTag(perfetto::trace_packet::kTimestamp);
    const uint64_t units = Advance(boottime_ns);
    return unit_shift_ == 0 ? WriteWideVarint(at, units) : WriteVarint(at, units);
  }
  void FinishPacket(uint8_t* packet, uint8_t* event_end, uint64_t boottime_ns) {
    uint8_t* const end = WriteTime(event_end, boottime_ns);
    packet[1] = static_cast<uint8_t>(end - packet - 2);
    writer_->Commit(end);
  }

  PacketWriter* writer_;
  Options options_;
  uint32_t unit_shift_;
  bool started_ = false;
  uint64_t last_units_ = 0;
  uint32_t last_name_iid_ = 0;
  uint32_t event_at_;  // in a packet: offset of the track event
  Head begin_;         // up to the name
  Head end_;           // up to the time
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_EVENT_SEQUENCE_H_

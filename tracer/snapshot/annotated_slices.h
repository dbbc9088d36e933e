// Slices with annotations on a writer sequence of their own: for the few tracks that describe a
// window as a whole. Times are ns of BOOTTIME and must not decrease within a sequence. Cold; one
// thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_ANNOTATED_SLICES_H_
#define JANKBOX_TRACER_SNAPSHOT_ANNOTATED_SLICES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tracer/perfetto/packet_writer.h"
#include "tracer/perfetto/trace_fields.h"

namespace jankbox {

// The annotations of an event, or the entries of a group of them.
class Annotations {
 public:
  explicit Annotations(ProtoWriter* event);

  // `value` may have any bytes.
  void Text(std::string_view name, std::string_view value);
  void Verbatim(std::string_view name, std::string_view value);  // an id, a version
  void Number(std::string_view name, int64_t value);
  // As milliseconds with decimals.
  void Ms(std::string_view name, uint64_t ns);
  void List(std::string_view name, const std::vector<std::string>& values);

  // `body(Annotations&)` writes the entries of group `name`.
  template <typename Body>
  void Group(std::string_view name, Body&& body) {
    writer_->Message(field_, [&](ProtoWriter& group) {
      group.Bytes(perfetto::debug_annotation::kName, name);
      Annotations entries(&group, perfetto::debug_annotation::kDictEntries);
      body(entries);
    });
  }

 private:
  Annotations(ProtoWriter* writer, uint32_t field) : writer_(writer), field_(field) {}

  ProtoWriter* writer_;
  uint32_t field_;  // of an annotation in the message that is written
};

class AnnotatedSlices {
 public:
  // `sequence_id` is unique in the trace.
  AnnotatedSlices(PacketWriter* writer, uint32_t sequence_id)
      : writer_(writer), sequence_id_(sequence_id) {}

  struct Slice {
    uint64_t track_uuid;
    uint64_t from_ns;
    uint64_t to_ns;  // one before `from_ns` counts as it
    std::string_view name;
  };

  // A slice from its begin to its end. `annotate(Annotations&)` is called once.
  template <typename Annotate>
  void Write(const Slice& slice, Annotate&& annotate) {
    Begin(slice, annotate);
    End(slice);
  }

  // The same in two steps, for what is written in between.
  template <typename Annotate>
  void Begin(const Slice& slice, Annotate&& annotate) {
    Packet(FromNs(slice), [&](ProtoWriter& packet) {
      packet.Message(perfetto::trace_packet::kTrackEvent, [&](ProtoWriter& event) {
        WriteBegin(event, slice);
        Annotations annotations(&event);
        annotate(annotations);
      });
    });
  }
  void End(const Slice& slice);

  // A packet of the sequence at a moment; `body(ProtoWriter&)` writes the rest of it.
  template <typename Body>
  void Packet(uint64_t time_ns, Body&& body) {
    writer_->Packet([&](ProtoWriter& packet) {
      WriteHead(packet, time_ns);
      body(packet);
    });
  }

  // The edges of `slice` as they are written.
  static uint64_t FromNs(const Slice& slice);
  static uint64_t ToNs(const Slice& slice);

 private:
  void WriteHead(ProtoWriter& packet, uint64_t time_ns);
  static void WriteBegin(ProtoWriter& event, const Slice& slice);

  PacketWriter* writer_;
  const uint32_t sequence_id_;
  bool first_ = true;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_ANNOTATED_SLICES_H_

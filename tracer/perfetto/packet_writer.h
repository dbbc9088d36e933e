// Writes Trace.packet records one after another through a reused 256 KiB buffer into an output.
// Packets of the hot loop are composed in place (Reserve and Commit); rare ones with ProtoWriter.
// One thread; allocates at construction and as a rare packet outgrows the scratch string. After
// the output's first error nothing is written any more.
#ifndef JANKBOX_TRACER_PERFETTO_PACKET_WRITER_H_
#define JANKBOX_TRACER_PERFETTO_PACKET_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/proto_writer.h"
#include "base/status.h"

namespace jankbox {

// Base-128 varint at `at`; returns its end. Ten bytes at most.
inline uint8_t* WriteVarint(uint8_t* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<uint8_t>(value);
  return at;
}

// A varint in two bytes, also if one would do: packets of a kind then have one length, and a
// trace becomes smaller in less time. Every protobuf reader takes such varints. For names, and for
// times in ns: in coarser units nearly all times take one byte.
inline uint8_t* WriteWideVarint(uint8_t* at, uint64_t value) {
  if (__builtin_expect(value >= 1u << 14, 0)) return WriteVarint(at, value);
  *at++ = static_cast<uint8_t>(value | 0x80);
  *at++ = static_cast<uint8_t>(value >> 7);
  return at;
}

class PacketWriter {
 public:
  using Output = std::function<Status(std::string_view)>;

  static constexpr size_t kBufferBytes = 256 << 10;
  static constexpr size_t kMaxReserveBytes = 1 << 10;

  // `output` takes pieces of at most kBufferBytes.
  explicit PacketWriter(Output output);

  // Room for a whole Trace.packet of up to kMaxReserveBytes, header included.
  uint8_t* Reserve() {
    if (end_ - at_ < static_cast<ptrdiff_t>(kMaxReserveBytes)) Flush();
    return at_;
  }
  void Commit(uint8_t* end) { at_ = end; }

  // One packet whose fields `body(ProtoWriter&)` writes.
  template <typename Body>
  void Packet(Body&& body) {
    scratch_.clear();
    ProtoWriter writer(&scratch_);
    body(writer);
    AppendPacket(scratch_);
  }

  // Writes out what is buffered and returns the first error of the output.
  Status Finish();

  const Status& status() const { return status_; }
  uint64_t bytes() const { return flushed_bytes_ + static_cast<uint64_t>(at_ - buffer_.get()); }

 private:
  void AppendPacket(std::string_view packet);
  void Append(std::string_view bytes);
  void Flush();

  Output output_;
  std::unique_ptr<uint8_t[]> buffer_;
  uint8_t* at_;
  uint8_t* end_;
  std::string scratch_;
  uint64_t flushed_bytes_ = 0;
  Status status_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_PERFETTO_PACKET_WRITER_H_

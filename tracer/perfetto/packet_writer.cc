#include "tracer/perfetto/packet_writer.h"

#include <algorithm>
#include <cstring>

#include "tracer/perfetto/trace_fields.h"

namespace jankbox {

PacketWriter::PacketWriter(Output output)
    : output_(std::move(output)),
      buffer_(new uint8_t[kBufferBytes]),
      at_(buffer_.get()),
      end_(buffer_.get() + kBufferBytes) {}

void PacketWriter::AppendPacket(std::string_view packet) {
  uint8_t* at = Reserve();
  *at++ = perfetto::trace::kPacket << 3 | 2;
  Commit(WriteVarint(at, packet.size()));
  Append(packet);
}

void PacketWriter::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    if (at_ == end_) Flush();
    const size_t piece = std::min(bytes.size(), static_cast<size_t>(end_ - at_));
    memcpy(at_, bytes.data(), piece);
    at_ += piece;
    bytes.remove_prefix(piece);
  }
}

void PacketWriter::Flush() {
  const size_t size = static_cast<size_t>(at_ - buffer_.get());
  at_ = buffer_.get();
  if (size == 0 || !status_.ok()) return;
  flushed_bytes_ += size;
  status_ = output_(std::string_view(reinterpret_cast<const char*>(buffer_.get()), size));
}

Status PacketWriter::Finish() {
  Flush();
  return status_;
}

}  // namespace jankbox

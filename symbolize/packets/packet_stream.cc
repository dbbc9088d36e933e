#include "symbolize/packets/packet_stream.h"

#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/logging.h>

#include <cstdint>

namespace jankbox {
namespace {

using traceproto::TracePacket;

constexpr size_t kMaxPacketBytes = 64 << 20;
constexpr uint8_t kPacketTag = 0x0a;  // Trace.packet, length-delimited
constexpr int kMaxVarintBytes = 10;

Status CorruptStream(const std::string& why) { return Status(StatusCode::kCorrupt, why); }

// Tag and length at the start of `bytes`: 1 and what they say, 0 if more bytes are needed, -1
// if they are no packet's.
int ReadHead(std::string_view bytes, size_t* head, uint64_t* length) {
  if (bytes.empty()) return 0;
  if (static_cast<uint8_t>(bytes[0]) != kPacketTag) return -1;
  *length = 0;
  for (int i = 0; i < kMaxVarintBytes; ++i) {
    const size_t at = 1 + static_cast<size_t>(i);
    if (at >= bytes.size()) return 0;
    const uint8_t byte = static_cast<uint8_t>(bytes[at]);
    *length |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      *head = at + 1;
      return 1;
    }
  }
  return -1;
}

class Splitter {
 public:
  Splitter(const PacketFunction& on_packet, bool nested) : on_packet_(on_packet), nested_(nested) {}

  Status Split(ByteSource* source) {
    while (true) {
      Result<std::string_view> piece = source->Next();
      if (!piece.ok()) return piece.status();
      if (piece.value().empty()) break;
      pending_.append(piece.value());
      Status status = TakeWhole();
      if (!status.ok()) return status;
    }
    return pending_.empty() ? Status::Ok()
                            : CorruptStream("cut off inside packet " + std::to_string(packets_));
  }

 private:
  Status TakeWhole() {
    size_t at = 0;
    while (true) {
      size_t head = 0;
      uint64_t length = 0;
      const std::string_view rest = std::string_view(pending_).substr(at);
      const int found = ReadHead(rest, &head, &length);
      if (found < 0) return CorruptStream("packet " + Number() + " is not a Perfetto packet");
      if (found > 0 && length > kMaxPacketBytes) {
        return CorruptStream("packet " + Number() + " of " + std::to_string(length) + " bytes");
      }
      if (found == 0 || length > rest.size() - head) break;
      Status status = Take(rest.substr(head, length));
      if (!status.ok()) return status;
      at += head + length;
    }
    pending_.erase(0, at);
    return Status::Ok();
  }

  Status Take(std::string_view bytes) {
    // libprotobuf writes a line to stderr for each refused message.
    google::protobuf::LogSilencer silencer;
    if (!packet_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return CorruptStream("packet " + Number() + " does not parse");
    }
    ++packets_;
    if (!packet_.has_zstd_compressed_packets() && !packet_.has_compressed_packets()) {
      return on_packet_(&packet_);
    }
    if (nested_) return CorruptStream("packet " + Number() + " is compressed twice");
    if (packet_.has_zstd_compressed_packets()) {
      const std::string inner = std::move(*packet_.mutable_zstd_compressed_packets());
      ByteSource source{std::string_view(inner)};
      return Splitter(on_packet_, true).Split(&source);
    }
    return Inflate();
  }

  Status Inflate() {
    const std::string deflated = std::move(*packet_.mutable_compressed_packets());
    google::protobuf::io::ArrayInputStream array(deflated.data(),
                                                 static_cast<int>(deflated.size()));
    google::protobuf::io::GzipInputStream stream(&array,
                                                 google::protobuf::io::GzipInputStream::ZLIB);
    std::string inner;
    const void* piece;
    int size;
    while (stream.Next(&piece, &size)) {
      inner.append(static_cast<const char*>(piece), static_cast<size_t>(size));
      if (inner.size() > kMaxPacketBytes)
        return CorruptStream("packet " + Number() + " inflates too far");
    }
    if (stream.ZlibErrorCode() != 1)
      return CorruptStream("deflated packet " + Number() + " is damaged");
    ByteSource source{std::string_view(inner)};
    return Splitter(on_packet_, true).Split(&source);
  }

  std::string Number() const { return std::to_string(packets_); }

  const PacketFunction& on_packet_;
  const bool nested_;
  std::string pending_;
  TracePacket packet_;
  uint64_t packets_ = 0;
};

}  // namespace

Status ForEachPacket(ByteSource* source, const PacketFunction& on_packet) {
  return Splitter(on_packet, false).Split(source);
}

}  // namespace jankbox

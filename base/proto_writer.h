// Writes protobuf wire format into a caller's buffer, in the order in which it is called. Used
// where packets stream through a small reused buffer (traces) and where the app must not carry
// libprotobuf (reports); the schemas and every reader are libprotobuf's. Not thread-safe. Allocates
// only as the buffer grows.
#ifndef JANKBOX_BASE_PROTO_WRITER_H_
#define JANKBOX_BASE_PROTO_WRITER_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace jankbox {

class ProtoWriter {
 public:
  explicit ProtoWriter(std::string* out) : out_(out) {}

  void Varint(uint32_t field, uint64_t value) {
    AppendVarint(static_cast<uint64_t>(field) << 3);
    AppendVarint(value);
  }
  // int32/int64: negative values take ten bytes, as protobuf says.
  void Int(uint32_t field, int64_t value) { Varint(field, static_cast<uint64_t>(value)); }
  void Bool(uint32_t field, bool value) { Varint(field, value ? 1 : 0); }
  void Double(uint32_t field, double value) {
    AppendVarint((static_cast<uint64_t>(field) << 3) | 1);
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    char bytes[sizeof(bits)];  // the least significant first, on every machine
    for (char& byte : bytes) {
      byte = static_cast<char>(bits);
      bits >>= 8;
    }
    out_->append(bytes, sizeof(bytes));
  }
  void Bytes(uint32_t field, std::string_view value) {
    AppendVarint((static_cast<uint64_t>(field) << 3) | 2);
    AppendVarint(value.size());
    out_->append(value);
  }

  // Writes field `field` as a message whose content `body(writer)` writes. The length goes into a
  // fixed four-byte varint, so content is written once and never moved. Messages stay below 256
  // MiB.
  template <typename Body>
  void Message(uint32_t field, Body&& body) {
    AppendVarint((static_cast<uint64_t>(field) << 3) | 2);
    const size_t length_at = out_->size();
    out_->append(4, '\0');
    body(*this);
    uint32_t length = static_cast<uint32_t>(out_->size() - length_at - 4);
    char* at = out_->data() + length_at;
    at[0] = static_cast<char>((length & 0x7f) | 0x80);
    at[1] = static_cast<char>(((length >> 7) & 0x7f) | 0x80);
    at[2] = static_cast<char>(((length >> 14) & 0x7f) | 0x80);
    at[3] = static_cast<char>((length >> 21) & 0x7f);
  }

 private:
  void AppendVarint(uint64_t value) {
    char bytes[10];
    size_t n = 0;
    while (value >= 0x80) {
      bytes[n++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    bytes[n++] = static_cast<char>(value);
    out_->append(bytes, n);
  }

  std::string* out_;
};

}  // namespace jankbox

#endif  // JANKBOX_BASE_PROTO_WRITER_H_

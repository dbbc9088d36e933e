// Reads the fields of one protobuf message in code that must not use libprotobuf: the
// collector's answer, the spool's own state. Untrusted input: stops permanently at the first
// malformed byte; groups are refused. Views into the caller's bytes; no allocation. Not
// thread-safe.
#ifndef JANKBOX_REPORT_PROTO_READER_H_
#define JANKBOX_REPORT_PROTO_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jankbox {

struct ProtoField {
  uint32_t number = 0;
  bool is_bytes = false;
  uint64_t value = 0;      // varint, fixed32 or fixed64
  std::string_view bytes;  // when is_bytes
};

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : rest_(message) {}

  // False at the end of the message or if it is malformed.
  bool Next(ProtoField* field);

  // REQUIRES that Next() returned false: whether the whole message was read.
  bool complete() const { return !malformed_; }

 private:
  bool ReadVarint(uint64_t* value);
  bool ReadFixed(size_t bytes, uint64_t* value);
  bool ReadField(ProtoField* field);

  std::string_view rest_;
  bool malformed_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_REPORT_PROTO_READER_H_

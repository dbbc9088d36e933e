#include "report/proto_reader.h"

namespace jankbox {

bool ProtoReader::Next(ProtoField* field) {
  if (malformed_ || rest_.empty()) return false;
  malformed_ = !ReadField(field);
  return !malformed_;
}

bool ProtoReader::ReadField(ProtoField* field) {
  uint64_t tag = 0;
  if (!ReadVarint(&tag)) return false;
  const uint64_t number = tag >> 3;
  if (number == 0 || number >= (1u << 29)) return false;
  *field = ProtoField{.number = static_cast<uint32_t>(number)};
  switch (tag & 7) {
    case 0:
      return ReadVarint(&field->value);
    case 1:
      return ReadFixed(8, &field->value);
    case 5:
      return ReadFixed(4, &field->value);
    case 2:
      break;
    default:
      return false;
  }
  uint64_t length = 0;
  if (!ReadVarint(&length) || length > rest_.size()) return false;
  field->is_bytes = true;
  field->bytes = rest_.substr(0, static_cast<size_t>(length));
  rest_.remove_prefix(static_cast<size_t>(length));
  return true;
}

bool ProtoReader::ReadVarint(uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    const uint8_t byte = static_cast<uint8_t>(rest_[i]);
    if (i == 9 && byte > 1) return false;  // beyond 64 bits
    *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if ((byte & 0x80) == 0) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool ProtoReader::ReadFixed(size_t bytes, uint64_t* value) {
  if (rest_.size() < bytes) return false;
  *value = 0;
  for (size_t i = 0; i < bytes; ++i) {
    *value |= static_cast<uint64_t>(static_cast<uint8_t>(rest_[i])) << (8 * i);
  }
  rest_.remove_prefix(bytes);
  return true;
}

}  // namespace jankbox

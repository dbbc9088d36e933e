#include "report/message_decoder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "report/field_table.h"
#include "report/proto_reader.h"

namespace jankbox {
namespace {

constexpr size_t kMaxTextBytes = 1024;  // as the writer cuts them

bool DecodeMessage(const MessageRow& message, std::string_view bytes, char* object);

template <typename Value>
bool Store(uint64_t value, char* member) {
  const Value stored = static_cast<Value>(value);
  memcpy(member, &stored, sizeof(stored));
  return true;
}

bool AppendMessage(const FieldRow& row, std::string_view bytes, char* member) {
  const MessageRow& message = kReportMessages[row.message];
  const bool room = row.max_count == 0 || message.list(member).count < row.max_count;
  return room && message.append != nullptr && DecodeMessage(message, bytes, message.append(member));
}

bool ReadText(const FieldRow& row, std::string_view bytes, char* member) {
  if (bytes.size() > kMaxTextBytes) return false;
  if (row.type == FieldType::kText) {
    *reinterpret_cast<std::string*>(member) = bytes;
    return true;
  }
  auto& texts = *reinterpret_cast<std::vector<std::string>*>(member);
  if (row.max_count != 0 && texts.size() >= row.max_count) return false;
  texts.emplace_back(bytes);
  return true;
}

bool ReadField(const FieldRow& row, const ProtoField& field, char* member) {
  switch (row.type) {
    case FieldType::kText:
    case FieldType::kTexts:
      return field.is_bytes && ReadText(row, field.bytes, member);
    case FieldType::kMessage:
      return field.is_bytes && DecodeMessage(kReportMessages[row.message], field.bytes, member);
    case FieldType::kMessages:
      return field.is_bytes && AppendMessage(row, field.bytes, member);
    case FieldType::kBool:
      return !field.is_bytes && Store<bool>(field.value != 0, member);
    case FieldType::kInt32:
    case FieldType::kUint32:
      return !field.is_bytes && Store<uint32_t>(field.value, member);
    case FieldType::kUint64:
      return !field.is_bytes && Store<uint64_t>(field.value, member);
    case FieldType::kOptionalUint64:
      break;  // no message that is read has one
  }
  return false;
}

bool DecodeMessage(const MessageRow& message, std::string_view bytes, char* object) {
  const FieldRow* const first = kReportFields + message.first_field;
  const FieldRow* const last = first + message.field_count;
  ProtoReader reader(bytes);
  ProtoField field;
  while (reader.Next(&field)) {
    const FieldRow* row = std::find_if(
        first, last, [&](const FieldRow& known) { return known.number == field.number; });
    if (row != last && !ReadField(*row, field, object + row->offset)) return false;
  }
  return reader.complete();
}

}  // namespace

Status DecodeCountBook(std::string_view bytes, ReportCountBook* book) {
  const bool whole = DecodeMessage(kReportCountBookMessage, bytes, reinterpret_cast<char*>(book));
  return whole ? Status::Ok() : Status(StatusCode::kCorrupt, "damaged counts");
}

}  // namespace jankbox

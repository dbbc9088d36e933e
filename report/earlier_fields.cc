#include "report/earlier_fields.h"

#include <array>

#include "base/proto_writer.h"
#include "report/field_table.h"
#include "report/proto_reader.h"

namespace jankbox {
namespace {

constexpr size_t kNumbers = 256;  // generate_report.py accepts no greater field number

// The first field of an element, which is a text.
std::string_view KeyOf(std::string_view element) {
  ProtoReader reader(element);
  ProtoField field;
  return reader.Next(&field) && field.number == 1 && field.is_bytes ? field.bytes
                                                                    : std::string_view();
}

bool HasElement(std::string_view message, uint32_t number, std::string_view key) {
  ProtoReader reader(message);
  ProtoField field;
  while (reader.Next(&field)) {
    if (field.number == number && field.is_bytes && KeyOf(field.bytes) == key) return true;
  }
  return false;
}

std::array<Kept, kNumbers> KeptFields() {
  std::array<Kept, kNumbers> kept{};
  const FieldRow* const fields = kReportFields + kReportMessage.first_field;
  for (size_t i = 0; i < kReportMessage.field_count; ++i) kept[fields[i].number] = fields[i].kept;
  return kept;
}

}  // namespace

std::string WithEarlierFields(std::string_view earlier, std::string_view later) {
  const std::array<Kept, kNumbers> kept = KeptFields();
  std::array<bool, kNumbers> has{};
  ProtoReader of_later(later);
  ProtoField field;
  while (of_later.Next(&field)) {
    if (field.number < kNumbers) has[field.number] = true;
  }
  std::string merged;
  ProtoWriter out(&merged);
  ProtoReader of_earlier(earlier);
  while (of_earlier.Next(&field)) {
    if (field.number >= kNumbers || kept[field.number] == Kept::kNo) continue;
    const bool by_key = kept[field.number] == Kept::kByKey && field.is_bytes;
    if (by_key ? HasElement(later, field.number, KeyOf(field.bytes)) : has[field.number]) continue;
    if (field.is_bytes) {
      out.Bytes(field.number, field.bytes);
    } else {
      out.Varint(field.number, field.value);
    }
  }
  if (!of_earlier.complete()) merged.clear();
  return merged.append(later);
}

}  // namespace jankbox

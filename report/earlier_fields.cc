#include "report/earlier_fields.h"

#include <array>
#include <set>
#include <utility>

#include "base/proto_writer.h"
#include "report/field_table.h"
#include "report/proto_reader.h"
#include "report/report.h"

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

// An element of a field that is merged by key.
using Element = std::pair<uint32_t, std::string_view>;

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
  std::set<Element> elements;
  ProtoReader of_later(later);
  ProtoField field;
  while (of_later.Next(&field)) {
    if (field.number >= kNumbers) continue;
    has[field.number] = true;
    const bool by_key = kept[field.number] == Kept::kByKey && field.is_bytes;
    if (by_key) elements.emplace(field.number, KeyOf(field.bytes));
  }
  std::string merged;
  ProtoWriter out(&merged);
  ProtoReader of_earlier(earlier);
  while (of_earlier.Next(&field)) {
    if (field.number >= kNumbers || kept[field.number] == Kept::kNo) continue;
    const bool by_key = kept[field.number] == Kept::kByKey && field.is_bytes;
    const bool replaced =
        by_key ? elements.contains({field.number, KeyOf(field.bytes)}) : has[field.number];
    if (replaced) continue;
    if (field.is_bytes) {
      out.Bytes(field.number, field.bytes);
    } else {
      out.Varint(field.number, field.value);
    }
  }
  if (!of_earlier.complete() || merged.size() + later.size() > kMaxReportMessageBytes) {
    merged.clear();
  }
  return merged.append(later);
}

}  // namespace jankbox

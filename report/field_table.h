// The table by which messages of report.proto are written and read in an app: a row for each field,
// at which place of which struct it is. Made by report/generate_report.py, read by
// report/report_encoder.cc and report/message_decoder.cc. Constant.
#ifndef JANKBOX_REPORT_FIELD_TABLE_H_
#define JANKBOX_REPORT_FIELD_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jankbox {

enum class FieldType : uint8_t {
  kBool,
  kInt32,
  kUint32,
  kUint64,
  kOptionalUint64,
  kText,
  kTexts,
  kMessage,
  kMessages
};

// What a later revision that lacks the field keeps of an earlier one.
enum class Kept : uint8_t { kNo, kWhole, kByKey };

struct FieldRow {
  uint16_t offset;     // of the member in its struct
  uint16_t max_count;  // of elements that are written; 0: all
  uint8_t number;
  FieldType type;
  uint8_t message;  // kMessage and kMessages: index into kReportMessages
  Kept kept;
  bool verbatim;  // a text that is not cleaned (base/text/private_text.h)
};

// The elements of a vector whose type the reader of the table does not know.
struct ElementList {
  const char* first;
  size_t count;
};

template <typename Struct>
ElementList ListOf(const void* member) {
  const auto& list = *static_cast<const std::vector<Struct>*>(member);
  return {reinterpret_cast<const char*>(list.data()), list.size()};
}

// A new element at the end of such a vector.
template <typename Struct>
char* AppendTo(void* member) {
  return reinterpret_cast<char*>(&static_cast<std::vector<Struct>*>(member)->emplace_back());
}

struct MessageRow {
  uint16_t first_field;  // index into kReportFields; in the order of their numbers
  uint16_t field_count;
  uint16_t size_bytes;
  ElementList (*list)(const void* member);  // of a std::vector of this struct
  char* (*append)(void* member);            // to one; null if no app reads the message
};

extern const FieldRow kReportFields[];
extern const MessageRow kReportMessages[];
extern const MessageRow& kReportMessage;           // of the struct Report
extern const MessageRow& kReportCountsMessage;     // of ReportCounts
extern const MessageRow& kReportCountBookMessage;  // of ReportCountBook

}  // namespace jankbox

#endif  // JANKBOX_REPORT_FIELD_TABLE_H_

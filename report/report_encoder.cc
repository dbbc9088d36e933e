#include "report/report_encoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/proto_writer.h"
#include "base/text/private_text.h"
#include "base/utf8.h"
#include "report/field_table.h"

namespace jankbox {
namespace {

// Texts are cut at this length and lists at their max_count in report.proto, so that a report never
// outgrows kMaxReportMessageBytes.
constexpr size_t kMaxTextBytes = 1024;

// Counts have texts that were cleaned when they were counted, or none of the app's.
enum class Texts { kCleaned, kVerbatim };

// proto3 readers refuse a message whose strings are not UTF-8.
std::string TextOf(const FieldRow& field, std::string_view text, Texts texts) {
  const bool cleaned = texts == Texts::kCleaned && !field.verbatim;
  return cleaned ? SealedText(text, kMaxTextBytes) : ToValidUtf8(text, kMaxTextBytes);
}

template <typename Value>
Value ValueAt(const char* member) {
  Value value;
  memcpy(&value, member, sizeof(value));
  return value;
}

size_t CountUpTo(size_t count, uint16_t max_count) {
  return max_count == 0 ? count : std::min<size_t>(count, max_count);
}

void WriteTexts(const FieldRow& field, const std::vector<std::string>& list, Texts texts,
                ProtoWriter* out) {
  const size_t count = CountUpTo(list.size(), field.max_count);
  for (size_t i = 0; i < count; ++i) out->Bytes(field.number, TextOf(field, list[i], texts));
}

std::string EncodeMessage(const MessageRow& message, const char* object, Texts texts);

void WriteMessages(const FieldRow& field, const char* member, Texts texts, ProtoWriter* out) {
  const MessageRow& message = kReportMessages[field.message];
  const ElementList list = message.list(member);
  const size_t count = CountUpTo(list.count, field.max_count);
  for (size_t i = 0; i < count; ++i) {
    out->Bytes(field.number, EncodeMessage(message, list.first + i * message.size_bytes, texts));
  }
}

// The value of a scalar as a varint: negative numbers take ten bytes.
uint64_t NumberAt(FieldType type, const char* member) {
  if (type == FieldType::kBool) return ValueAt<bool>(member) ? 1 : 0;
  if (type == FieldType::kUint32) return ValueAt<uint32_t>(member);
  if (type == FieldType::kInt32) return static_cast<uint64_t>(int64_t{ValueAt<int32_t>(member)});
  return ValueAt<uint64_t>(member);
}

// proto3: a scalar at its default is not written unless it is optional, nor is a message without
// content.
void WriteField(const FieldRow& field, const char* member, Texts texts, ProtoWriter* out) {
  if (field.type == FieldType::kMessages) {
    WriteMessages(field, member, texts, out);
  } else if (field.type == FieldType::kTexts) {
    WriteTexts(field, *reinterpret_cast<const std::vector<std::string>*>(member), texts, out);
  } else if (field.type == FieldType::kMessage) {
    const std::string content = EncodeMessage(kReportMessages[field.message], member, texts);
    if (!content.empty()) out->Bytes(field.number, content);
  } else if (field.type == FieldType::kText) {
    const auto& text = *reinterpret_cast<const std::string*>(member);
    if (!text.empty()) out->Bytes(field.number, TextOf(field, text, texts));
  } else if (field.type == FieldType::kOptionalUint64) {
    const auto& value = *reinterpret_cast<const std::optional<uint64_t>*>(member);
    if (value.has_value()) out->Varint(field.number, *value);
  } else if (const uint64_t number = NumberAt(field.type, member); number != 0) {
    out->Varint(field.number, number);
  }
}

std::string EncodeMessage(const MessageRow& message, const char* object, Texts texts) {
  std::string bytes;
  ProtoWriter out(&bytes);
  const FieldRow* const fields = kReportFields + message.first_field;
  for (size_t i = 0; i < message.field_count; ++i) {
    WriteField(fields[i], object + fields[i].offset, texts, &out);
  }
  return bytes;
}

void AppendLittleEndian32(uint32_t value, std::string* out) {
  for (int shift = 0; shift < 32; shift += 8) out->push_back(static_cast<char>(value >> shift));
}

}  // namespace

std::string EncodeReport(const Report& report) {
  return EncodeMessage(kReportMessage, reinterpret_cast<const char*>(&report), Texts::kCleaned);
}

std::string EncodeCounts(const ReportCounts& counts) {
  return EncodeMessage(kReportCountsMessage, reinterpret_cast<const char*>(&counts),
                       Texts::kVerbatim);
}

std::string EncodeCountBook(const ReportCountBook& book) {
  return EncodeMessage(kReportCountBookMessage, reinterpret_cast<const char*>(&book),
                       Texts::kVerbatim);
}

std::string SkippableFrame(std::string_view content) {
  std::string frame;
  frame.reserve(8 + content.size());
  AppendLittleEndian32(kReportFrameMagic, &frame);
  AppendLittleEndian32(static_cast<uint32_t>(content.size()), &frame);
  frame.append(content);
  return frame;
}

}  // namespace jankbox

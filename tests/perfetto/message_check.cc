#include "tests/perfetto/message_check.h"

#include <google/protobuf/unknown_field_set.h>
#include <iconv.h>

#include <vector>

namespace jankbox::testing {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// By the C library's decoder, so that our own is not its own judge.
bool IsUtf8(std::string text) {
  iconv_t decoder = iconv_open("UTF-32LE", "UTF-8");
  std::string decoded(text.size() * 4 + 4, '\0');
  char* in = text.data();
  char* out = decoded.data();
  size_t in_left = text.size();
  size_t out_left = decoded.size();
  const bool valid = iconv(decoder, &in, &in_left, &out, &out_left) != static_cast<size_t>(-1);
  iconv_close(decoder);
  return valid && in_left == 0;
}

std::string CheckValue(const Message& message, const FieldDescriptor* field, int index) {
  const Reflection* reflection = message.GetReflection();
  const bool repeated = field->is_repeated();
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
    return CheckMessage(repeated ? reflection->GetRepeatedMessage(message, field, index)
                                 : reflection->GetMessage(message, field));
  }
  if (field->type() != FieldDescriptor::TYPE_STRING) return {};
  const std::string text = repeated ? reflection->GetRepeatedString(message, field, index)
                                    : reflection->GetString(message, field);
  return IsUtf8(text) ? "" : "text is not UTF-8: " + field->full_name();
}

}  // namespace

std::string CheckMessage(const Message& message) {
  const Reflection* reflection = message.GetReflection();
  if (!reflection->GetUnknownFields(message).empty()) {
    return "unknown field in " + message.GetTypeName();
  }
  std::vector<const FieldDescriptor*> fields;
  reflection->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? reflection->FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      std::string violation = CheckValue(message, field, i);
      if (!violation.empty()) return violation;
    }
  }
  return {};
}

}  // namespace jankbox::testing

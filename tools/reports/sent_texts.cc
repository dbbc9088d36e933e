#include "tools/reports/sent_texts.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <utility>
#include <vector>

#include "report/report_file.h"
#include "symbolize/packets/byte_source.h"
#include "symbolize/packets/packet_stream.h"

namespace jankbox::tools {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Bytes, too: names of functions are bytes to Perfetto.
void Collect(const Message& message, std::set<std::string>* texts) {
  const auto& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const int count = field->is_repeated() ? reflection.FieldSize(message, field) : 1;
    for (int i = 0; i < count; ++i) {
      const bool listed = field->is_repeated();
      if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
        Collect(listed ? reflection.GetRepeatedMessage(message, field, i)
                       : reflection.GetMessage(message, field),
                texts);
      } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
        std::string text = listed ? reflection.GetRepeatedString(message, field, i)
                                  : reflection.GetString(message, field);
        if (!text.empty()) texts->insert(std::move(text));
      }
    }
  }
}

}  // namespace

Result<SentTexts> ReadSentTexts(std::string_view file) {
  const Result<proto::Report> report = ParseReport(file);
  if (!report.ok()) return report.status();
  SentTexts texts;
  Collect(report.value(), &texts.report);
  ByteSource source(file);
  const Status status = ForEachPacket(&source, [&](traceproto::TracePacket* packet) {
    Collect(*packet, &texts.trace);
    return Status();
  });
  if (!status.ok()) return status;
  for (const std::string& text : texts.report) texts.trace.erase(text);
  return texts;
}

}  // namespace jankbox::tools

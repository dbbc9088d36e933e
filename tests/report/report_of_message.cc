#include "tests/report/report_of_message.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include "report/report.visit.h"

namespace jankbox {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Sets each member that it visits from the field of `message` that has its name.
class MemberReader {
 public:
  explicit MemberReader(const Message& message)
      : message_(message), reflection_(*message.GetReflection()) {}

  void operator()(const char* name, uint64_t* value) const {
    *value = reflection_.GetUInt64(message_, Field(name));
  }
  void operator()(const char* name, std::optional<uint64_t>* value) const {
    if (reflection_.HasField(message_, Field(name))) {
      *value = reflection_.GetUInt64(message_, Field(name));
    }
  }
  void operator()(const char* name, uint32_t* value) const {
    *value = reflection_.GetUInt32(message_, Field(name));
  }
  void operator()(const char* name, int32_t* value) const {
    *value = reflection_.GetInt32(message_, Field(name));
  }
  void operator()(const char* name, bool* value) const {
    *value = reflection_.GetBool(message_, Field(name));
  }
  void operator()(const char* name, ReportKind* value) const {
    *value = static_cast<ReportKind>(reflection_.GetEnumValue(message_, Field(name)));
  }
  void operator()(const char* name, std::string* value) const {
    *value = reflection_.GetString(message_, Field(name));
  }
  void operator()(const char* name, std::vector<std::string>* list) const {
    const FieldDescriptor* field = Field(name);
    for (int i = 0; i < reflection_.FieldSize(message_, field); ++i) {
      list->push_back(reflection_.GetRepeatedString(message_, field, i));
    }
  }
  template <typename Struct>
  void operator()(const char* name, std::vector<Struct>* list) const {
    const FieldDescriptor* field = Field(name);
    list->resize(static_cast<size_t>(reflection_.FieldSize(message_, field)));
    for (size_t i = 0; i < list->size(); ++i) {
      const int index = static_cast<int>(i);
      VisitFields(&(*list)[i],
                  MemberReader(reflection_.GetRepeatedMessage(message_, field, index)));
    }
  }
  template <typename Struct>
  void operator()(const char* name, Struct* nested) const {
    VisitFields(nested, MemberReader(reflection_.GetMessage(message_, Field(name))));
  }

 private:
  const FieldDescriptor* Field(const char* name) const {
    const FieldDescriptor* field = message_.GetDescriptor()->FindFieldByName(name);
    EXPECT_NE(field, nullptr) << name;
    return field;
  }

  const Message& message_;
  const google::protobuf::Reflection& reflection_;
};

}  // namespace

Report ReportOfMessage(const proto::Report& message) {
  Report report;
  VisitFields(&report, MemberReader(message));
  return report;
}

}  // namespace jankbox

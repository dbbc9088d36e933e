#include "report/report_json.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <time.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "report/group_key.h"

namespace jankbox {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using nlohmann::json;

std::string Hexadecimal(uint64_t number) {
  char text[20];
  snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

// "2026-03-01T12:00:00.123Z".
std::string Rfc3339(uint64_t realtime_ns) {
  const time_t seconds = static_cast<time_t>(realtime_ns / 1'000'000'000);
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  const size_t length = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &utc);
  snprintf(text + length, sizeof(text) - length, ".%03uZ",
           static_cast<unsigned>(realtime_ns / 1'000'000 % 1000));
  return text;
}

std::string LowerCaseName(const EnumValueDescriptor& value) {
  std::string name = value.name();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return tolower(c); });
  return name;
}

// "slow_message" for SLOW_MESSAGE; "unknown" for 0 and for numbers of a newer writer.
std::string EnumName(const EnumValueDescriptor* value) {
  return value == nullptr || value->number() == 0 ? "unknown" : LowerCaseName(*value);
}

// A number in units other than the schema's, by the end of its name.
struct Unit {
  const char* ending;
  const char* json_ending;
  double divisor;
};
constexpr Unit kUnits[] = {{"_ns", "_ms", 1e6}, {"_milli", "", 1e3}};

const Unit* UnitOf(const FieldDescriptor& field) {
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_UINT64) return nullptr;
  if (field.options().GetExtension(proto::moment)) return nullptr;
  for (const Unit& unit : kUnits) {
    if (("_" + field.name()).ends_with(unit.ending)) return &unit;
  }
  return nullptr;
}

std::string JsonName(const FieldDescriptor& field) {
  const Unit* unit = UnitOf(field);
  if (unit == nullptr) return field.name();
  const std::string name = "_" + field.name();  // "ns" is "ms"
  return (name.substr(0, name.size() - strlen(unit->ending)) + unit->json_ending).substr(1);
}

json Uint64ToJson(const FieldDescriptor& field, uint64_t number) {
  if (field.options().GetExtension(proto::hexadecimal)) return Hexadecimal(number);
  const Unit* unit = UnitOf(field);
  if (unit == nullptr) return number;
  return static_cast<double>(number) / unit->divisor;
}

json MessageToJson(const Message& message, const proto::Report& report);

// Messages of 0.1 that are objects in every report's JSON; what else may be absent is null then.
bool IsAlwaysThere(const Descriptor* type) {
  return type == proto::Verdict::descriptor() || type == proto::Window::descriptor() ||
         type == proto::Losses::descriptor() || type == proto::SelfCost::descriptor();
}

json ValueToJson(const Message& message, const FieldDescriptor* field,
                 const proto::Report& report) {
  const Reflection& reflection = *message.GetReflection();
  const bool absent = field->has_presence() && !reflection.HasField(message, field);
  if (absent && !IsAlwaysThere(field->message_type())) return nullptr;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.GetBool(message, field);
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.GetUInt32(message, field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return Uint64ToJson(*field, reflection.GetUInt64(message, field));
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.GetString(message, field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumName(
          field->enum_type()->FindValueByNumber(reflection.GetEnumValue(message, field)));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageToJson(reflection.GetMessage(message, field), report);
    default:
      // Types that the writer does not know either: report/generate_report.py refuses them.
      return nullptr;
  }
}

json ListToJson(const Message& message, const FieldDescriptor* field, const proto::Report& report) {
  const Reflection& reflection = *message.GetReflection();
  json list = json::array();
  for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      list.push_back(MessageToJson(reflection.GetRepeatedMessage(message, field, i), report));
    } else {
      list.push_back(reflection.GetRepeatedString(message, field, i));
    }
  }
  return list;
}

// The five messages whose JSON has another shape than their fields.

// Wall-clock times beside the window's moments.
void ShapeWindow(const proto::Report& report, json* object) {
  const proto::Window& window = report.window();
  const uint64_t length = window.to_ns() > window.from_ns() ? window.to_ns() - window.from_ns() : 0;
  const uint64_t to = window.to_realtime_ns();
  (*object)["from"] = Rfc3339(to > length ? to - length : 0);
  (*object)["to"] = Rfc3339(to);
  object->erase("to_realtime_ms");
}

void ShapeRecording(const proto::Report& report, json* object) {
  const proto::Window& window = report.window();
  const auto wall = [&](const char* moment) {
    const uint64_t before = window.to_ns() - object->at(moment).get<uint64_t>();
    return Rfc3339(window.to_realtime_ns() - before);
  };
  (*object)["from"] = wall("from_ns");
  (*object)["to"] = wall("to_ns");
}

// null: no owner of a lock is known.
void ShapeVerdict(const proto::Report& report, json* object) {
  json owner = {{"tid", object->at("lock_owner_tid")},
                {"thread", object->at("lock_owner")},
                {"frames", object->at("lock_owner_frames")}};
  object->erase("lock_owner_tid");
  object->erase("lock_owner_frames");
  if (report.verdict().lock_owner_tid() == 0) owner = nullptr;
  (*object)["lock_owner"] = std::move(owner);
}

// Messages by their names, not by indexes.
void ShapeHistory(const proto::Report& report, json* object) {
  const proto::History& history = report.history();
  for (const char* list : {"longest", "last"}) {
    for (json& message : object->at(list)) {
      const int name = static_cast<int>(message.at("name").get<uint32_t>()) - 1;
      message.erase("name");
      message["what"] = name >= 0 && name < history.names_size() ? history.names(name) : "";
    }
  }
  object->erase("names");
}

// The group key is that of the reader, not of the writer.
void ShapeIdentity(const proto::Report& report, json* object) {
  const GroupKey group = GroupKeyOf(report);
  (*object)["group_key"] = group.key;
  (*object)["group_version"] = group.version;
  (*object)["provisional"] = group.provisional;
}

void Shape(const Descriptor* type, const proto::Report& report, json* object) {
  if (type == proto::Window::descriptor()) return ShapeWindow(report, object);
  if (type == proto::Recording::descriptor()) return ShapeRecording(report, object);
  if (type == proto::Verdict::descriptor()) return ShapeVerdict(report, object);
  if (type == proto::History::descriptor()) return ShapeHistory(report, object);
  if (type == proto::Identity::descriptor()) return ShapeIdentity(report, object);
}

json MessageToJson(const Message& message, const proto::Report& report) {
  const Descriptor* type = message.GetDescriptor();
  json object = json::object();
  for (int i = 0; i < type->field_count(); ++i) {
    const FieldDescriptor* field = type->field(i);
    const std::string& group = field->options().GetExtension(proto::json_group);
    json& place = group.empty() ? object : object[group];
    place[JsonName(*field)] = field->is_repeated() ? ListToJson(message, field, report)
                                                   : ValueToJson(message, field, report);
  }
  Shape(type, report, &object);
  return object;
}

}  // namespace

std::string KindName(proto::Kind kind) {
  return EnumName(proto::Kind_descriptor()->FindValueByNumber(kind));
}

json ReportToJson(const proto::Report& report) { return MessageToJson(report, report); }

const std::vector<ReportSection>& ReportSections() {
  static const auto* sections = [] {
    auto* made = new std::vector<ReportSection>;
    const google::protobuf::EnumDescriptor* all = proto::Section_descriptor();
    for (int i = 1; i <= all->value_count(); ++i) {  // the default one is the last
      const EnumValueDescriptor* value = all->value(i % all->value_count());
      ReportSection section{LowerCaseName(*value).substr(strlen("section_")), {}};
      const Descriptor* report = proto::Report::descriptor();
      for (int f = 0; f < report->field_count(); ++f) {
        const FieldDescriptor& field = *report->field(f);
        if (field.options().GetExtension(proto::section) != value->number()) continue;
        section.fields.push_back(JsonName(field));
      }
      made->push_back(std::move(section));
    }
    return made;
  }();
  return *sections;
}

}  // namespace jankbox

#include "tools/reports/json_field.h"

#include <algorithm>

#include "tools/terminal/terminal.h"

namespace jankbox::tools {

using nlohmann::json;

const json& JsonField(const json& object, const char* name) {
  static const json kNull;
  const auto found = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && found != object.end() ? *found : kNull;
}

std::string JsonText(const json& object, const char* name) {
  const json& field = JsonField(object, name);
  return field.is_string() ? Printable(field.get_ref<const std::string&>()) : "";
}

double JsonNumber(const json& object, const char* name) {
  const json& field = JsonField(object, name);
  return field.is_number() ? std::clamp(field.get<double>(), 0.0, 1e18) : 0;
}

uint64_t JsonCount(const json& object, const char* name) {
  return static_cast<uint64_t>(JsonNumber(object, name));
}

std::vector<std::string> JsonTexts(const json& object, const char* name) {
  std::vector<std::string> texts;
  for (const json& item : JsonField(object, name)) {
    if (item.is_string()) texts.push_back(Printable(item.get_ref<const std::string&>()));
  }
  return texts;
}

}  // namespace jankbox::tools

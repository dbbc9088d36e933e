// Fields of JSON that any server may have written: a missing or mistyped one reads as empty. Texts
// are printable. Pure; allocates.
#ifndef JANKBOX_TOOLS_REPORTS_JSON_FIELD_H_
#define JANKBOX_TOOLS_REPORTS_JSON_FIELD_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace jankbox::tools {

const nlohmann::json& JsonField(const nlohmann::json& object, const char* name);  // or null
std::string JsonText(const nlohmann::json& object, const char* name);
double JsonNumber(const nlohmann::json& object, const char* name);  // 0 to 1e18
uint64_t JsonCount(const nlohmann::json& object, const char* name);
std::vector<std::string> JsonTexts(const nlohmann::json& object, const char* name);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_JSON_FIELD_H_

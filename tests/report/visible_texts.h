// What a view of a whole report must show: for each field that is set its name or, of a text,
// itself.
#ifndef JANKBOX_TESTS_REPORT_VISIBLE_TEXTS_H_
#define JANKBOX_TESTS_REPORT_VISIBLE_TEXTS_H_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace jankbox {

inline void AddVisibleTexts(const std::string& name, const nlohmann::json& value,
                            std::vector<std::string>* texts) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      const bool moment = key.ends_with("_ns") && value.contains(key.substr(0, key.size() - 3));
      if (moment || key == "depth") continue;  // said as wall-clock time, or by an indent
      AddVisibleTexts(key, inner, texts);
    }
  } else if (value.is_array()) {
    for (const auto& inner : value) AddVisibleTexts(name, inner, texts);
  } else if (value.is_string()) {
    if (name != "build_id") texts->push_back(value.get<std::string>());  // may be cut
  } else if (name == "rel_pc" || name == "function_start") {             // of a frame
    constexpr uint64_t kExactInJavaScript = uint64_t{1} << 53;
    const uint64_t address = value.get<uint64_t>();
    char text[32];
    snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
    if (address != 0 && address < kExactInJavaScript) texts->push_back(text);
  } else if (name == "line") {
    if (value != 0) texts->push_back(":" + value.dump());  // after the file
  } else if (!value.is_null() && value != 0 && value != false && name != "ms") {
    std::string label = name.ends_with("_ms") ? name.substr(0, name.size() - 3) : name;
    std::replace(label.begin(), label.end(), '_', ' ');
    texts->push_back(label);
  }
}

inline std::vector<std::string> VisibleTexts(const nlohmann::json& report) {
  std::vector<std::string> texts;
  AddVisibleTexts("", report, &texts);
  return texts;
}

}  // namespace jankbox

#endif  // JANKBOX_TESTS_REPORT_VISIBLE_TEXTS_H_

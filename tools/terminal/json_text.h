// JSON as the command prints it: indented, ended by a newline, strings that are not UTF-8 repaired.
#ifndef JANKBOX_TOOLS_TERMINAL_JSON_TEXT_H_
#define JANKBOX_TOOLS_TERMINAL_JSON_TEXT_H_

#include <nlohmann/json.hpp>
#include <string>

namespace jankbox::tools {

inline std::string JsonText(const nlohmann::json& value) {
  return value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_JSON_TEXT_H_

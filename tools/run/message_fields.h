// The fields of a datagram of the agents' (tools/terminal/agent_channel.h), and numbers in lines.
#ifndef JANKBOX_TOOLS_RUN_MESSAGE_FIELDS_H_
#define JANKBOX_TOOLS_RUN_MESSAGE_FIELDS_H_

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jankbox::tools {

// What the tabs of `text` divide.
inline std::vector<std::string_view> Fields(std::string_view text) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t tab = text.find('\t');
    fields.push_back(text.substr(0, tab));
    if (tab == std::string_view::npos) return fields;
    text.remove_prefix(tab + 1);
  }
}

// nullopt if `text` is not a decimal number of 64 bits.
inline std::optional<uint64_t> Number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "1 message", "2 messages".
inline std::string Plural(uint64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_MESSAGE_FIELDS_H_

#include "sdk/api/option_entries.h"

#include <algorithm>

namespace jankbox {
namespace {

bool IsQuote(char c) { return c == '\'' || c == '"'; }

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Where the entry that `text` starts with ends: at a comma that is not in quotes. Only a value's
// first character opens quotes.
size_t EntryEnd(std::string_view text) {
  const size_t value = text.find_first_not_of(" \t\r\n", text.find_first_of("=,"));
  const size_t first = text.find_first_not_of("= \t\r\n", value);
  if (value >= text.size() || text[value] != '=' || first >= text.size() || !IsQuote(text[first])) {
    return std::min(text.find(','), text.size());
  }
  for (size_t i = first + 1; i < text.size(); ++i) {
    if (text[i] != text[first]) continue;
    const bool doubled = i + 1 < text.size() && text[i + 1] == text[first];
    if (!doubled) return std::min(text.find(',', i), text.size());
    ++i;
  }
  return text.size();
}

}  // namespace

bool OptionEntries::Next(OptionEntry* entry) {
  std::string_view text;
  while (text.empty()) {
    if (rest_.empty()) return false;
    const size_t end = EntryEnd(rest_);
    text = Trimmed(rest_.substr(0, end));
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
  }
  const size_t equals = std::min(text.find('='), text.size());
  entry->weak = equals > 0 && equals < text.size() && text[equals - 1] == '?';
  entry->name = Trimmed(text.substr(0, equals - (entry->weak ? 1 : 0)));
  entry->raw_value = Trimmed(text.substr(std::min(equals + 1, text.size())));
  return true;
}

size_t CopyUnquoted(std::string_view raw_value, std::span<char> value) {
  const bool quoted =
      raw_value.size() >= 2 && IsQuote(raw_value.front()) && raw_value.back() == raw_value.front();
  const char quote = quoted ? raw_value.front() : '\0';
  if (quoted) raw_value = raw_value.substr(1, raw_value.size() - 2);
  size_t length = 0;
  for (size_t i = 0; i < raw_value.size() && length < value.size(); ++i) {
    value[length++] = raw_value[i];
    const bool doubled =
        quoted && raw_value[i] == quote && i + 1 < raw_value.size() && raw_value[i + 1] == quote;
    if (doubled) ++i;
  }
  return length;
}

std::string Unquoted(std::string_view raw_value) {
  std::string value(raw_value.size(), '\0');
  value.resize(CopyUnquoted(raw_value, value));
  return value;
}

std::string Quoted(std::string_view value) {
  std::string quoted = "'";
  for (const char c : value) quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

}  // namespace jankbox

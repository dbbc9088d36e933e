// The syntax of JANKBOX_OPTIONS: "name=value,name=value". A value with commas or blanks at its ends
// stands in quotes, 'a,b' or "a,b"; a quote inside is doubled. `jankbox run` also writes
// "name?=value": a weak entry, which holds only if nobody else sets the option. Pure; the reader
// allocates nothing and so serves the preload agent, too.
#ifndef JANKBOX_SDK_API_OPTION_ENTRIES_H_
#define JANKBOX_SDK_API_OPTION_ENTRIES_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace jankbox {

struct OptionEntry {
  std::string_view name;
  std::string_view raw_value;  // with its quotes
  bool weak = false;
};

class OptionEntries {
 public:
  explicit OptionEntries(std::string_view text) : rest_(text) {}

  // False at the end.
  bool Next(OptionEntry* entry);

 private:
  std::string_view rest_;
};

// Writes the value without its quotes to `value`, cut to its size; returns the length.
size_t CopyUnquoted(std::string_view raw_value, std::span<char> value);
std::string Unquoted(std::string_view raw_value);

// The opposite: what an entry with this value has after its "=".
std::string Quoted(std::string_view value);

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_OPTION_ENTRIES_H_

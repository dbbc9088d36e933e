// The one decoder and the one cleaner of UTF-8. Names of threads, symbols and messages may hold any
// bytes: they come cut at a fixed number of bytes, or from libraries that ignore encodings. Traces,
// reports and the terminal decide here what is malformed. Any thread; ToValidUtf8() allocates.
#ifndef JANKBOX_BASE_UTF8_H_
#define JANKBOX_BASE_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace jankbox {

struct Utf8Character {
  uint32_t code_point = 0;
  size_t bytes = 0;  // 0: malformed
};

// The character that `text` starts with. REQUIRES !text.empty().
Utf8Character DecodeUtf8(std::string_view text);

// `text` with U+FFFD in place of each byte that is part of no character, and without the characters
// that do not fit into `max_bytes`.
std::string ToValidUtf8(std::string_view text, size_t max_bytes = SIZE_MAX);

}  // namespace jankbox

#endif  // JANKBOX_BASE_UTF8_H_

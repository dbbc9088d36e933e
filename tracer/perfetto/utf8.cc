#include "tracer/perfetto/utf8.h"

#include <algorithm>
#include <cstdint>

namespace jankbox {
namespace {

// Bytes of the character that begins with `lead`; 0 if none does.
size_t CharacterBytes(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

// True if `second` may follow `lead`: neither overlong, nor a surrogate, nor beyond U+10FFFF.
bool MayFollow(uint8_t lead, uint8_t second) {
  switch (lead) {
    case 0xe0:
      return second >= 0xa0 && second < 0xc0;
    case 0xed:
      return second >= 0x80 && second < 0xa0;
    case 0xf0:
      return second >= 0x90 && second < 0xc0;
    case 0xf4:
      return second >= 0x80 && second < 0x90;
    default:
      return second >= 0x80 && second < 0xc0;
  }
}

// How many bytes at the start of `text` form, or begin, the character that its first byte promises.
size_t MatchingBytes(std::string_view text, size_t wanted) {
  size_t count = 1;
  while (count < std::min(wanted, text.size())) {
    const auto byte = static_cast<uint8_t>(text[count]);
    const bool fits =
        count == 1 ? MayFollow(static_cast<uint8_t>(text[0]), byte) : byte >= 0x80 && byte < 0xc0;
    if (!fits) break;
    ++count;
  }
  return count;
}

}  // namespace

std::string ToValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t wanted = CharacterBytes(static_cast<uint8_t>(text[0]));
    const size_t matching = wanted == 0 ? 0 : MatchingBytes(text, wanted);
    if (wanted != 0 && matching == wanted) {
      valid += text.substr(0, wanted);
      text.remove_prefix(wanted);
    } else if (wanted != 0 && matching == text.size()) {
      break;  // cut off
    } else {
      valid += '?';
      text.remove_prefix(1);
    }
  }
  return valid;
}

}  // namespace jankbox

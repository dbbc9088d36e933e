// A short key for something longer: XXH3, the same on every machine. No protection against an
// attacker (docs/decisions, "One checksum for each purpose"). Any of Jankbox's threads; allocates.
#ifndef JANKBOX_BASE_SHORT_KEY_H_
#define JANKBOX_BASE_SHORT_KEY_H_

#include <string>
#include <string_view>

namespace jankbox {

// 32 hexadecimal digits over `bytes`.
std::string ShortKey(std::string_view bytes);

}  // namespace jankbox

#endif  // JANKBOX_BASE_SHORT_KEY_H_

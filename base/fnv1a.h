// FNV-1a, 64 bits: a short hash of names for tables that app threads look into, without a library.
// No checksum for new files (docs/decisions, "One checksum for each purpose"). NO-ALLOC,
// SIGNAL-SAFE.
#ifndef JANKBOX_BASE_FNV1A_H_
#define JANKBOX_BASE_FNV1A_H_

#include <cstdint>
#include <string_view>

namespace jankbox {

constexpr uint64_t Fnv1a(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_FNV1A_H_

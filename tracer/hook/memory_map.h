// The protections of this process's mappings, from /proc/self/maps. A snapshot: true for as long as
// no other thread maps or protects. Loading allocates: Jankbox's own threads only. Parse() is pure
// and drops lines that make no sense.
#ifndef JANKBOX_TRACER_HOOK_MEMORY_MAP_H_
#define JANKBOX_TRACER_HOOK_MEMORY_MAP_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace jankbox {

class MemoryMap {
 public:
  static MemoryMap Load();
  static MemoryMap Parse(std::string_view text);

  // PROT_* of the page that contains `address`; nothing if none is mapped.
  std::optional<int> ProtectionAt(uint64_t address) const;

 private:
  struct Mapping {
    uint64_t start;
    uint64_t end;
    int protection;
  };
  std::vector<Mapping> mappings_;  // sorted, as the kernel lists them
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_MEMORY_MAP_H_

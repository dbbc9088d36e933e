// The protections of this process's mappings: from Linux 6.11 on the kernel is asked for one at a
// time (PROCMAP_QUERY), before from the text of /proc/self/maps, which costs a millisecond where
// there are a thousand. True for as long as no other thread maps or protects. Loading allocates:
// Jankbox's own threads only. Parse() is pure and drops lines that make no sense.
#ifndef JANKBOX_TRACER_HOOK_MEMORY_MAP_H_
#define JANKBOX_TRACER_HOOK_MEMORY_MAP_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/scoped_fd.h"

namespace jankbox {

class MemoryMap {
 public:
  static MemoryMap Load();
  // As before Linux 6.11.
  static MemoryMap LoadText();
  static MemoryMap Parse(std::string_view text);

  // PROT_* of the page that contains `address`; nothing if none is mapped.
  std::optional<int> ProtectionAt(uint64_t address);

 private:
  struct Mapping {
    uint64_t start;
    uint64_t end;
    int protection;
  };
  static bool StartsAfter(uint64_t address, const Mapping& mapping) {
    return address < mapping.start;
  }
  const Mapping* Find(uint64_t address) const;
  const Mapping* Ask(uint64_t address);

  ScopedFd maps_;                  // to ask for what is not among `mappings_`; invalid: nothing is
  std::vector<Mapping> mappings_;  // sorted, as the kernel lists them, or those that it told
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_MEMORY_MAP_H_

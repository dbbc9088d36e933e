// Stores into import slots. A read-only (RELRO) page is made writable for the one store and then
// given back exactly the protection that it had; a page that is executable is never touched, so
// nothing is ever writable and executable. Stores are atomic: other threads call through the slot
// meanwhile. On Jankbox's own threads; one writer at a time.
#ifndef JANKBOX_TRACER_HOOK_SLOT_WRITER_H_
#define JANKBOX_TRACER_HOOK_SLOT_WRITER_H_

#include <cstdint>

#include "tracer/hook/memory_map.h"

namespace jankbox {

enum class SlotStore : uint8_t {
  kStored,
  kChanged,      // the slot has another value by now: not touched
  kProtected,    // its page cannot be made writable
  kLeftWritable  // stored, but the kernel refused to give the page its protection back
};

class SlotWriter {
 public:
  // REQUIRES that `map` was loaded after the modules of the slots were referenced.
  explicit SlotWriter(const MemoryMap& map);

  // REQUIRES an aligned slot in a referenced module.
  static void* Load(uint64_t slot);

  // `desired` instead of `expected`. Everything stored before is visible to whoever finds `desired`
  // in the slot.
  SlotStore Replace(uint64_t slot, void* expected, void* desired);

 private:
  const MemoryMap& map_;
  const uint64_t page_bytes_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_SLOT_WRITER_H_

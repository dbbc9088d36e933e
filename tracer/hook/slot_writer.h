// Stores into import slots. A read-only (RELRO) page is made writable for the one store and then
// given back exactly the protection that it had; a page that is executable is never touched, so
// nothing is ever writable and executable. Stores are atomic: other threads call through the slot
// meanwhile. On Jankbox's own threads; one writer at a time.
#ifndef JANKBOX_TRACER_HOOK_SLOT_WRITER_H_
#define JANKBOX_TRACER_HOOK_SLOT_WRITER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "tracer/hook/memory_map.h"

namespace jankbox {

enum class SlotStore : uint8_t {
  kStored,
  kChanged,    // the slot has another value by now: not touched
  kProtected,  // its page cannot be made writable
};

class SlotWriter {
 public:
  // REQUIRES that `map` was loaded after the modules of the slots were referenced, which outlive
  // this.
  explicit SlotWriter(MemoryMap* map);
  ~SlotWriter() { Finish(); }
  SlotWriter(const SlotWriter&) = delete;
  SlotWriter& operator=(const SlotWriter&) = delete;

  // REQUIRES an aligned slot in a referenced module.
  static void* Load(uint64_t slot);

  // The contents of slots, sorted by address, whose modules may be unloaded by now: null where
  // nothing can be read.
  static std::vector<void*> LoadSafely(std::span<const uint64_t> slots);

  // `desired` instead of `expected`. Everything stored before is visible to whoever finds `desired`
  // in the slot. Its page may stay writable until the next slot of another one, or Finish(): each
  // change of a protection interrupts all CPUs of the process.
  SlotStore Replace(uint64_t slot, void* expected, void* desired);

  // Gives the last page its protection back. Pages that the kernel refused that for, so far.
  uint32_t Finish();

 private:
  MemoryMap* const map_;
  const uint64_t page_bytes_;
  uint64_t open_page_ = 0;  // 0: none
  int open_protection_ = 0;
  uint32_t left_writable_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_SLOT_WRITER_H_

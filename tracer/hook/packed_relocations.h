// Reads Android's packed relocations (DT_ANDROID_REL, DT_ANDROID_RELA): the letters "APS2", then
// signed LEB128 numbers: how many, the first offset, and groups whose members share an offset
// delta, an info or an addend (format: bionic's linker_reloc_iterators.h). Bounds-checked: a table
// that claims more relocations than the module has words is corrupt, so reading ends. NO-ALLOC.
#ifndef JANKBOX_TRACER_HOOK_PACKED_RELOCATIONS_H_
#define JANKBOX_TRACER_HOOK_PACKED_RELOCATIONS_H_

#include <cstddef>
#include <cstdint>

#include "tracer/hook/dynamic_tables.h"
#include "tracer/hook/elf_image.h"

namespace jankbox {

// As in the file: r_offset without load bias, r_info of the image's class.
struct Relocation {
  uint64_t offset = 0;
  uint64_t info = 0;
  uint64_t addend = 0;
};

class PackedRelocations {
 public:
  enum class State : uint8_t {
    kReading,
    kEnd,
    kCorrupt,
    kUnknown,  // another packing than "APS2"
  };

  // REQUIRES a table inside of the image, as ReadDynamicTables() leaves them.
  PackedRelocations(const ElfImage& image, const ElfTable& table);

  // False at the end, or if the table cannot be read on: see state().
  bool Next(Relocation* relocation);

  State state() const { return state_; }

 private:
  bool Fail(State state);
  bool ReadNumber(uint64_t* value);
  bool ReadGroup();

  const ElfFormat format_;
  const std::byte* bytes_;
  uint64_t size_;
  uint64_t position_ = 0;
  State state_ = State::kReading;
  uint64_t left_ = 0;           // relocations
  uint64_t left_in_group_ = 0;  // of those
  uint64_t group_flags_ = 0;
  uint64_t group_offset_delta_ = 0;
  Relocation last_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_PACKED_RELOCATIONS_H_

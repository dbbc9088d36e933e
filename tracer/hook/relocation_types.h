// The import scan's knowledge of a machine: its relocation types, and the code that a slot
// points to before it is bound lazily. As data, for every machine: a module of a machine that is
// not this one's is read in tests only.
#ifndef JANKBOX_TRACER_HOOK_RELOCATION_TYPES_H_
#define JANKBOX_TRACER_HOOK_RELOCATION_TYPES_H_

#include <elf.h>

#include <cstdint>

#include "tracer/hook/elf_image.h"

namespace jankbox {

struct RelocationTypes {
  uint16_t machine;
  bool is_64;
  uint32_t jump_slot;
  uint32_t glob_dat;
  uint32_t absolute;
};

inline constexpr RelocationTypes kRelocationTypes[] = {
    {EM_X86_64, true, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_64},
    {EM_AARCH64, true, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_ABS64},
    {EM_386, false, R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_32},
    {EM_ARM, false, R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_ABS32},
};

// Null if the machine is not known.
inline const RelocationTypes* RelocationTypesOf(const ElfFormat& format) {
  for (const RelocationTypes& types : kRelocationTypes) {
    if (types.machine == format.machine && types.is_64 == format.is_64) return &types;
  }
  return nullptr;
}

// True if `code` is the PLT code that binds the entry of `plt_index` at its first call.
inline bool IsLazyBindingCode(const ElfImage& image, uint64_t code, int64_t plt_index) {
  uint32_t word = 0;
  uint8_t opcode = 0;
  const uint64_t index = static_cast<uint64_t>(plt_index);
  switch (image.format().machine) {
    case EM_X86_64:  // [endbr64] push $index
    case EM_386: {   // [endbr32] push $offset, in bytes
      const uint64_t pushed = image.format().is_64 ? index : index * sizeof(Elf32_Rel);
      if (image.Read(code, &word) && (word == 0xfa1e0ff3 || word == 0xfb1e0ff3)) code += 4;
      return image.Read(code, &opcode) && opcode == 0x68 && image.Read(code + 1, &word) &&
             word == pushed;
    }
    case EM_AARCH64:  // the PLT's header, shared by all slots: [bti c] stp x16, x30, [sp, #-16]!
      if (image.Read(code, &word) && word == 0xd503245f) code += 4;
      return image.Read(code, &word) && word == 0xa9bf7bf0;
    case EM_ARM:  // the same: str lr, [sp, #-4]!
      return image.Read(code, &word) && word == 0xe52de004;
    default:
      return false;
  }
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_RELOCATION_TYPES_H_

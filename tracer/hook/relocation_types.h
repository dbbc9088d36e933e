// What the import scan must know of a machine: its relocation types, and the code that a slot
// points to before it is bound lazily.
#ifndef JANKBOX_TRACER_HOOK_RELOCATION_TYPES_H_
#define JANKBOX_TRACER_HOOK_RELOCATION_TYPES_H_

#include <elf.h>

#include <cstdint>

#include "tracer/hook/elf_image.h"

namespace jankbox {

#if defined(__x86_64__) && defined(__LP64__)

inline constexpr bool kRelocationsKnown = true;
inline constexpr uint32_t kJumpSlotType = R_X86_64_JUMP_SLOT;
inline constexpr uint32_t kGlobDatType = R_X86_64_GLOB_DAT;
inline constexpr uint32_t kAbsoluteType = R_X86_64_64;

// [endbr64] push $plt_index
inline bool IsLazyBindingCode(const ElfImage& image, uint64_t code, int64_t plt_index) {
  uint32_t word = 0;
  if (image.Read(code, &word) && word == 0xfa1e0ff3) code += sizeof(word);
  uint8_t opcode = 0;
  uint32_t operand = 0;
  return image.Read(code, &opcode) && opcode == 0x68 && image.Read(code + 1, &operand) &&
         operand == static_cast<uint64_t>(plt_index);
}

#elif defined(__aarch64__) && defined(__LP64__)

inline constexpr bool kRelocationsKnown = true;
inline constexpr uint32_t kJumpSlotType = R_AARCH64_JUMP_SLOT;
inline constexpr uint32_t kGlobDatType = R_AARCH64_GLOB_DAT;
inline constexpr uint32_t kAbsoluteType = R_AARCH64_ABS64;

// The PLT's header, shared by all slots: [bti c] stp x16, x30, [sp, #-16]!
inline bool IsLazyBindingCode(const ElfImage& image, uint64_t code, int64_t /*plt_index*/) {
  uint32_t word = 0;
  if (image.Read(code, &word) && word == 0xd503245f) code += sizeof(word);
  return image.Read(code, &word) && word == 0xa9bf7bf0;
}

#else

inline constexpr bool kRelocationsKnown = false;
inline constexpr uint32_t kJumpSlotType = 0;
inline constexpr uint32_t kGlobDatType = 0;
inline constexpr uint32_t kAbsoluteType = 0;
inline bool IsLazyBindingCode(const ElfImage& /*image*/, uint64_t /*code*/, int64_t /*index*/) {
  return false;
}

#endif

}  // namespace jankbox

#endif  // JANKBOX_TRACER_HOOK_RELOCATION_TYPES_H_

#include "bench/ring_instructions/instruction_kind.h"

namespace jankbox::bench {
namespace {

bool IsLegacyPrefix(uint8_t byte) {
  switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3:
      return true;
    default:
      return false;
  }
}

}  // namespace

InstructionKind KindOfInstruction(const uint8_t* bytes, size_t count) {
  InstructionKind kind;
  size_t at = 0;
  for (; at < count && IsLegacyPrefix(bytes[at]); ++at) {
    if (bytes[at] == 0xf0) kind.locked = true;
    if (bytes[at] == 0xf2 || bytes[at] == 0xf3) kind.repeated = true;
  }
  if (at < count && (bytes[at] & 0xf0) == 0x40) ++at;  // REX
  const uint8_t opcode = at < count ? bytes[at] : 0;
  const uint8_t next = at + 1 < count ? bytes[at + 1] : 0;
  if ((opcode == 0x86 || opcode == 0x87) && next < 0xc0) kind.locked = true;
  kind.syscall =
      (opcode == 0x0f && (next == 0x05 || next == 0x34)) || (opcode == 0xcd && next == 0x80);
  kind.mark = opcode == 0xcc;
  const bool string = (opcode >= 0xa4 && opcode <= 0xaf && opcode != 0xa8 && opcode != 0xa9) ||
                      (opcode >= 0x6c && opcode <= 0x6f);
  kind.repeated = kind.repeated && string;
  return kind;
}

}  // namespace jankbox::bench

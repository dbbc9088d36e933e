#include "sdk/linux/jvmti/bytecode_scan.h"

namespace jankbox {
namespace {

constexpr uint8_t kPutField = 0xb5;

struct Range {
  uint8_t first, last;
  size_t bytes;  // of an instruction
};

// The Java Virtual Machine Specification, chapter 6. Not here: tableswitch, lookupswitch and wide,
// whose length varies, and opcodes that no class file has.
constexpr Range kLengths[] = {
    {0x00, 0x0f, 1},  // nop, constants
    {0x10, 0x10, 2},  // bipush
    {0x11, 0x11, 3},  // sipush
    {0x12, 0x12, 2},  // ldc
    {0x13, 0x14, 3},  // ldc_w, ldc2_w
    {0x15, 0x19, 2},  // iload … aload
    {0x1a, 0x35, 1},  // iload_0 … saload
    {0x36, 0x3a, 2},  // istore … astore
    {0x3b, 0x83, 1},  // istore_0 … lxor
    {0x84, 0x84, 3},  // iinc
    {0x85, 0x98, 1},  // conversions, comparisons
    {0x99, 0xa8, 3},  // branches, jsr
    {0xa9, 0xa9, 2},  // ret
    {0xac, 0xb1, 1},  // returns
    {0xb2, 0xb8, 3},  // fields, calls
    {0xb9, 0xba, 5},  // invokeinterface, invokedynamic
    {0xbb, 0xbb, 3},  // new
    {0xbc, 0xbc, 2},  // newarray
    {0xbd, 0xbd, 3},  // anewarray
    {0xbe, 0xbf, 1},  // arraylength, athrow
    {0xc0, 0xc1, 3},  // checkcast, instanceof
    {0xc2, 0xc3, 1},  // monitorenter, monitorexit
    {0xc5, 0xc5, 4},  // multianewarray
    {0xc6, 0xc7, 3},  // ifnull, ifnonnull
    {0xc8, 0xc9, 5},  // goto_w, jsr_w
};

// 0: not known.
size_t LengthOf(uint8_t opcode) {
  for (const Range& range : kLengths) {
    if (opcode >= range.first && opcode <= range.last) return range.bytes;
  }
  return 0;
}

}  // namespace

std::optional<size_t> IndexAfterFirstFieldWrite(std::span<const uint8_t> code) {
  size_t at = 0;
  while (at < code.size()) {
    const size_t bytes = LengthOf(code[at]);
    if (bytes == 0) return std::nullopt;
    const bool found = code[at] == kPutField;
    at += bytes;
    if (found) return at < code.size() ? std::optional(at) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace jankbox

// Which of a program's x86-64 instructions take a lock on memory or enter the kernel. A decoder of
// prefixes and opcodes, no more. Pure.
#ifndef JANKBOX_BENCH_RING_INSTRUCTIONS_INSTRUCTION_KIND_H_
#define JANKBOX_BENCH_RING_INSTRUCTIONS_INSTRUCTION_KIND_H_

#include <cstddef>
#include <cstdint>

namespace jankbox::bench {

struct InstructionKind {
  bool locked = false;    // a lock prefix, or xchg with memory, which locks without one
  bool syscall = false;   // syscall, sysenter, int 0x80
  bool repeated = false;  // a rep prefix: each round of it traps
  bool mark = false;      // int3
};

// Of the instruction that `bytes` (at most 15) begin with.
InstructionKind KindOfInstruction(const uint8_t* bytes, size_t count);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_RING_INSTRUCTIONS_INSTRUCTION_KIND_H_

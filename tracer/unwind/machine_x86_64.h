// x86-64: register numbers of the psABI's DWARF mapping, perf's order of them
// (asm/perf_regs.h), and a signal frame's. Included only by machine.h. SIGNAL-SAFE.
#ifndef JANKBOX_TRACER_UNWIND_MACHINE_X86_64_H_
#define JANKBOX_TRACER_UNWIND_MACHINE_X86_64_H_

#include <cstdint>

namespace jankbox::machine {

inline constexpr uint32_t kRegisterCount = 17;
inline constexpr uint32_t kFramePointer = 6;
inline constexpr uint32_t kStackPointer = 7;
inline constexpr uint32_t kProgramCounter = 16;

// A function's first six arguments at its start; the address that it returns to is on the stack.
inline constexpr uint8_t kArgumentRegisters[6] = {5, 4, 1, 2, 8, 9};
inline constexpr uint32_t kReturnRegister = kRegisterCount;

inline constexpr bool kCallsPush = true;  // a caller's stack pointer is above
inline constexpr bool kSignsReturns = false;

// Bits ax…ip and r8…r15 of perf's user registers; not flags and segments.
inline constexpr uint64_t kPerfRegisterMask = 0xff01ff;
inline constexpr uint32_t kPerfRegisterCount = 17;
// DWARF numbers in the order in which perf stores the registers of the mask.
inline constexpr uint8_t kPerfRegisters[kPerfRegisterCount] = {0, 3, 2,  1,  4,  5,  6,  7, 16,
                                                               8, 9, 10, 11, 12, 13, 14, 15};

// Passes each register of a signal's ucontext_t as (DWARF number, value).
template <typename Context, typename Visit>
void ForEachRegister(const Context& context, Visit visit) {
  // Where sys/ucontext.h keeps them: REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP,
  // REG_RSP, REG_R8 … REG_R15, REG_RIP.
  constexpr uint8_t kSaved[kRegisterCount] = {13, 12, 14, 11, 9, 8, 10, 15, 0,
                                              1,  2,  3,  4,  5, 6, 7,  16};
  for (uint32_t i = 0; i < kRegisterCount; ++i) {
    visit(i, static_cast<uint64_t>(context.uc_mcontext.gregs[kSaved[i]]));
  }
}

}  // namespace jankbox::machine

#endif  // JANKBOX_TRACER_UNWIND_MACHINE_X86_64_H_

// AArch64: register numbers (x0…x30, sp, and pc as libunwind counts it), perf's order of them
// (asm/perf_regs.h), and a signal frame's. Included only by machine.h. SIGNAL-SAFE.
#ifndef JANKBOX_TRACER_UNWIND_MACHINE_AARCH64_H_
#define JANKBOX_TRACER_UNWIND_MACHINE_AARCH64_H_

#include <cstdint>

namespace jankbox::machine {

inline constexpr uint32_t kRegisterCount = 33;
inline constexpr uint32_t kFramePointer = 29;
inline constexpr uint32_t kStackPointer = 31;
inline constexpr uint32_t kProgramCounter = 32;

// A function's first six arguments at its start, and the address that it returns to.
inline constexpr uint8_t kArgumentRegisters[6] = {0, 1, 2, 3, 4, 5};
inline constexpr uint32_t kReturnRegister = 30;

inline constexpr bool kCallsPush = false;    // a leaf's stack pointer may be its caller's
inline constexpr bool kSignsReturns = true;  // code built with pointer authentication does

inline constexpr uint64_t kPerfRegisterMask = 0x1ffffffff;
inline constexpr uint32_t kPerfRegisterCount = 33;
inline constexpr uint8_t kPerfRegisters[kPerfRegisterCount] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

// Passes each register of a signal's ucontext_t as (number, value).
template <typename Context, typename Visit>
void ForEachRegister(const Context& context, Visit visit) {
  for (uint32_t i = 0; i < 31; ++i) visit(i, static_cast<uint64_t>(context.uc_mcontext.regs[i]));
  visit(kStackPointer, static_cast<uint64_t>(context.uc_mcontext.sp));
  visit(kProgramCounter, static_cast<uint64_t>(context.uc_mcontext.pc));
}

}  // namespace jankbox::machine

#endif  // JANKBOX_TRACER_UNWIND_MACHINE_AARCH64_H_

// The registers of the calling function, at this very instruction, that unwinding on from it needs:
// program counter, stack pointer and those that a callee preserves. Nothing on machines that are
// not known. SIGNAL-SAFE.
#ifndef JANKBOX_TRACER_INTERPOSE_OWN_REGISTERS_H_
#define JANKBOX_TRACER_INTERPOSE_OWN_REGISTERS_H_

#include <cstdint>

namespace jankbox {

// Passes each as (DWARF number, value).
template <typename Visit>
__attribute__((always_inline)) inline void ReadOwnRegisters(Visit visit) {
#if defined(__x86_64__)
  uint64_t values[8];
  asm volatile(
      "movq %%rbx, 0(%0)\n\t"
      "movq %%rbp, 8(%0)\n\t"
      "movq %%rsp, 16(%0)\n\t"
      "movq %%r12, 24(%0)\n\t"
      "movq %%r13, 32(%0)\n\t"
      "movq %%r14, 40(%0)\n\t"
      "movq %%r15, 48(%0)\n\t"
      "leaq 0(%%rip), %%rax\n\t"
      "movq %%rax, 56(%0)"
      :
      : "r"(values)
      : "rax", "memory");
  constexpr uint32_t kNumbers[] = {3, 6, 7, 12, 13, 14, 15, 16};
  for (int i = 0; i < 8; ++i) visit(kNumbers[i], values[i]);
#elif defined(__aarch64__)
  uint64_t values[14];
  asm volatile(
      "stp x19, x20, [%0]\n\t"
      "stp x21, x22, [%0, #16]\n\t"
      "stp x23, x24, [%0, #32]\n\t"
      "stp x25, x26, [%0, #48]\n\t"
      "stp x27, x28, [%0, #64]\n\t"
      "stp x29, x30, [%0, #80]\n\t"
      "mov x9, sp\n\t"
      "adr x10, .\n\t"
      "stp x9, x10, [%0, #96]"
      :
      : "r"(values)
      : "x9", "x10", "memory");
  for (uint32_t i = 0; i < 14; ++i) visit(19 + i, values[i]);
#else
  (void)visit;
#endif
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_OWN_REGISTERS_H_

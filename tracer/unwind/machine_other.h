// A machine without an unwinder here: /proc gives the program counter and no more. Included by
// machine.h alone. SIGNAL-SAFE.
#ifndef JANKBOX_TRACER_UNWIND_MACHINE_OTHER_H_
#define JANKBOX_TRACER_UNWIND_MACHINE_OTHER_H_

#include <cstdint>

namespace jankbox::machine {

inline constexpr uint32_t kRegisterCount = 3;
inline constexpr uint32_t kFramePointer = 0;
inline constexpr uint32_t kStackPointer = 1;
inline constexpr uint32_t kProgramCounter = 2;

// A function's first six arguments at its start; not known.
inline constexpr uint8_t kArgumentRegisters[6] = {0, 0, 0, 0, 0, 0};
inline constexpr uint32_t kReturnRegister = kRegisterCount;

inline constexpr bool kCallsPush = false;  // not known
inline constexpr bool kSignsReturns = false;

inline constexpr uint64_t kPerfRegisterMask = 0;
inline constexpr uint32_t kPerfRegisterCount = 0;
inline constexpr uint8_t kPerfRegisters[1] = {0};

template <typename Context, typename Visit>
void ForEachRegister(const Context&, Visit) {}

}  // namespace jankbox::machine

#endif  // JANKBOX_TRACER_UNWIND_MACHINE_OTHER_H_

// The registers of a thread as the unwinder knows them, and how each machine names them. Plain
// values, NO-ALLOC, SIGNAL-SAFE. Register numbers are DWARF's, which are libunwind's too.
#ifndef JANKBOX_TRACER_UNWIND_MACHINE_H_
#define JANKBOX_TRACER_UNWIND_MACHINE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#if defined(__x86_64__)
#include "tracer/unwind/machine_x86_64.h"
#elif defined(__aarch64__)
#include "tracer/unwind/machine_aarch64.h"
#else
#include "tracer/unwind/machine_other.h"
#endif

namespace jankbox {

// Register values, each either known or not: a blocked thread's are not, except pc and sp, and a
// guess would unwind into frames that never were.
class Registers {
 public:
  void Set(uint32_t number, uint64_t value) {
    values_[number] = value;
    known_ |= uint64_t{1} << number;
  }
  bool Known(uint32_t number) const {
    return number < machine::kRegisterCount && (known_ >> number & 1) != 0;
  }
  uint64_t Get(uint32_t number) const { return values_[number]; }

 private:
  uint64_t values_[machine::kRegisterCount] = {};
  uint64_t known_ = 0;
};

// A thread's stack from its stack pointer upward, copied; addresses outside of it are not known.
struct StackCopy {
  uint64_t base = 0;
  std::span<const std::byte> bytes;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_MACHINE_H_

// Return addresses that carry a signature (arm64's pointer authentication), for libunwind 1.6,
// which knows nothing of them: it takes the rule that marks them, DW_CFA_AARCH64_negate_ra_state,
// for damage, gives the frame up and guesses. Here that rule is read as none, and signatures are
// taken off. Machines without (machine::kSignsReturns) call none of this. One watcher thread;
// NO-ALLOC.
#ifndef JANKBOX_TRACER_UNWIND_SIGNED_RETURNS_H_
#define JANKBOX_TRACER_UNWIND_SIGNED_RETURNS_H_

#include <cstddef>
#include <cstdint>

#include "tracer/unwind/machine.h"
#include "tracer/unwind/unwind_tables.h"

namespace jankbox {

class SignedReturns {
 public:
  SignedReturns() : size_(0) {}

  // Takes a copy of the FDE that covers `address`, without those rules: libunwind reads it next.
  // An address that is too long or of an unknown form is left as it is.
  void TakeRules(UnwindTables* tables, const EhFrameTable& table, uint64_t address);

  // Puts the copy's bytes in place of those in `word`, which was read at `address`.
  void Replace(uint64_t address, uint64_t* word) const;

  // `address` without its signature, which only a return address has.
  static uint64_t Strip(uint64_t address);

 private:
  // Functions with so many exits are rare: 99.9 % of Debian's FDEs are below 1 KiB.
  static constexpr size_t kBytes = machine::kSignsReturns ? 8192 : 1;

  uint64_t start_;
  size_t size_;
  uint8_t bytes_[kBytes];
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_SIGNED_RETURNS_H_

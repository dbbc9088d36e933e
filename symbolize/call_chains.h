// The function at an address and the calls that are inlined there, from one unit of DWARF. One pass
// over the unit's entries serves all addresses, so that 100,000 of them cost no more than a walk
// through the file. In a worker only: the file may be hostile.
#ifndef JANKBOX_SYMBOLIZE_CALL_CHAINS_H_
#define JANKBOX_SYMBOLIZE_CALL_CHAINS_H_

#include <elfutils/libdw.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jankbox {

class CallChains {
 public:
  // `addresses` are sorted and outlive this.
  explicit CallChains(std::span<const uint64_t> addresses);

  // Walks the entries below `unit`.
  void Walk(Dwarf_Die* unit);

  // Of the i-th address: the function, then what is inlined, each into the one before. Empty if the
  // unit has no function there.
  const std::vector<Dwarf_Die>& Of(size_t i) const { return chains_[i]; }

 private:
  using Indexes = std::vector<size_t>;  // of addresses, ascending

  // Visits the entries below `parent`. `inside`: the addresses whose chain ends in the code that
  // `parent` is a part of, and has `length` entries.
  void WalkBelow(Dwarf_Die* parent, const Indexes& inside, size_t length, int depth);
  Indexes TakeFunction(Dwarf_Die* function);
  Indexes TakeInlined(Dwarf_Die* call, const Indexes& inside, size_t length);
  // The addresses in the ranges of `die`, and the size of these.
  Indexes In(Dwarf_Die* die, uint64_t* size) const;

  const std::span<const uint64_t> addresses_;
  std::vector<std::vector<Dwarf_Die>> chains_;
  std::vector<uint64_t> function_sizes_;  // of the functions that begin the chains
};

}  // namespace jankbox

#endif  // JANKBOX_SYMBOLIZE_CALL_CHAINS_H_

// One pass over one ELF symbol table for a batch of addresses: the best function symbol for each,
// in memory that depends only on the batch. Pure; the caller reads the table piece by piece.
#ifndef JANKBOX_DIAGNOSIS_SYMBOLS_SYMBOL_PASS_H_
#define JANKBOX_DIAGNOSIS_SYMBOLS_SYMBOL_PASS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace jankbox {

struct FunctionSymbol {
  uint64_t start = 0;
  uint64_t size = 0;         // 0: up to the next one
  uint32_t name_offset = 0;  // in the string table
  uint8_t rank = 0;          // of symbols with the same range the highest wins
};

class SymbolPass {
 public:
  // REQUIRES `addresses` sorted, without repeats.
  explicit SymbolPass(std::vector<uint64_t> addresses);

  void Add(const FunctionSymbol& symbol);

  // After the last Add(): the symbol of the i-th address, or null.
  const FunctionSymbol* Match(size_t i) const;
  const std::vector<uint64_t>& addresses() const { return addresses_; }

 private:
  struct Slot {
    FunctionSymbol covering;       // the nearest start whose size covers the address
    FunctionSymbol starting_here;  // the last start between the previous address and this one
    bool has_covering = false;
    bool has_starting = false;
  };

  std::vector<uint64_t> addresses_;
  std::vector<Slot> slots_;
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SYMBOLS_SYMBOL_PASS_H_

#include "diagnosis/symbols/symbol_pass.h"

#include <algorithm>

namespace jankbox {

namespace {

// A label without a size further away than this names something else.
constexpr uint64_t kMaxUnsizedBytes = 64 * 1024;

bool Nearer(const FunctionSymbol& a, const FunctionSymbol& b) {
  if (a.start != b.start) return a.start > b.start;
  if (a.size != b.size) return a.size != 0 && (b.size == 0 || a.size < b.size);
  return a.rank > b.rank;
}

}  // namespace

SymbolPass::SymbolPass(std::vector<uint64_t> addresses)
    : addresses_(std::move(addresses)), slots_(addresses_.size()) {}

void SymbolPass::Add(const FunctionSymbol& symbol) {
  const auto first = std::lower_bound(addresses_.begin(), addresses_.end(), symbol.start);
  if (first == addresses_.end()) return;
  Slot& starting = slots_[static_cast<size_t>(first - addresses_.begin())];
  if (!starting.has_starting || Nearer(symbol, starting.starting_here)) {
    starting.starting_here = symbol;
    starting.has_starting = true;
  }
  for (auto at = first; at != addresses_.end() && *at - symbol.start < symbol.size; ++at) {
    Slot& slot = slots_[static_cast<size_t>(at - addresses_.begin())];
    if (slot.has_covering && !Nearer(symbol, slot.covering)) continue;
    slot.covering = symbol;
    slot.has_covering = true;
  }
}

const FunctionSymbol* SymbolPass::Match(size_t i) const {
  if (slots_[i].has_covering) return &slots_[i].covering;
  // The last function that starts at or before the address: it is the one only if it has no size.
  for (size_t at = i + 1; at-- > 0;) {
    if (!slots_[at].has_starting) continue;
    const FunctionSymbol& last = slots_[at].starting_here;
    return last.size == 0 && addresses_[i] - last.start < kMaxUnsizedBytes ? &last : nullptr;
  }
  return nullptr;
}

}  // namespace jankbox

#include "symbolize/call_chains.h"

#include <dwarf.h>

#include <algorithm>

namespace jankbox {
namespace {

// A hostile file may have any number of these.
constexpr int kDeepest = 200;     // entries within each other
constexpr size_t kMaxCalls = 64;  // inlined into each other

bool HasCode(Dwarf_Die* die) {
  return dwarf_hasattr(die, DW_AT_low_pc) != 0 || dwarf_hasattr(die, DW_AT_ranges) != 0;
}

}  // namespace

CallChains::CallChains(std::span<const uint64_t> addresses)
    : addresses_(addresses), chains_(addresses.size()), function_sizes_(addresses.size()) {}

void CallChains::Walk(Dwarf_Die* unit) { WalkBelow(unit, {}, 0, 0); }

void CallChains::WalkBelow(Dwarf_Die* parent, const Indexes& inside, size_t length, int depth) {
  Dwarf_Die die;
  if (depth > kDeepest || dwarf_child(parent, &die) != 0) return;
  do {
    switch (dwarf_tag(&die)) {
      case DW_TAG_subprogram:
        WalkBelow(&die, HasCode(&die) ? TakeFunction(&die) : Indexes(), 1, depth + 1);
        break;
      case DW_TAG_inlined_subroutine: {
        const Indexes in_call = TakeInlined(&die, inside, length);
        if (!in_call.empty()) WalkBelow(&die, in_call, length + 1, depth + 1);
        break;
      }
      case DW_TAG_lexical_block:
      case DW_TAG_try_block:
      case DW_TAG_catch_block:
        WalkBelow(&die, inside, length, depth + 1);
        break;
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type:
        WalkBelow(&die, {}, 0, depth + 1);
        break;
      default:
        break;
    }
  } while (dwarf_siblingof(&die, &die) == 0);
}

// Of two functions that claim an address the smaller one has it.
CallChains::Indexes CallChains::TakeFunction(Dwarf_Die* function) {
  uint64_t size = 0;
  Indexes taken = In(function, &size);
  std::erase_if(taken, [&](size_t i) { return !chains_[i].empty() && function_sizes_[i] <= size; });
  for (const size_t i : taken) {
    chains_[i] = {*function};
    function_sizes_[i] = size;
  }
  return taken;
}

CallChains::Indexes CallChains::TakeInlined(Dwarf_Die* call, const Indexes& inside, size_t length) {
  if (inside.empty() || length >= kMaxCalls) return {};
  uint64_t size = 0;
  Indexes taken;
  for (const size_t i : In(call, &size)) {
    if (chains_[i].size() != length || !std::binary_search(inside.begin(), inside.end(), i)) {
      continue;
    }
    chains_[i].push_back(*call);
    taken.push_back(i);
  }
  return taken;
}

CallChains::Indexes CallChains::In(Dwarf_Die* die, uint64_t* size) const {
  Indexes found;
  Dwarf_Addr base = 0, begin = 0, end = 0;
  ptrdiff_t offset = 0;
  while ((offset = dwarf_ranges(die, offset, &base, &begin, &end)) > 0) {
    if (begin >= end) continue;
    *size += end - begin;
    auto at = std::lower_bound(addresses_.begin(), addresses_.end(), begin);
    for (; at != addresses_.end() && *at < end; ++at) {
      found.push_back(static_cast<size_t>(at - addresses_.begin()));
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace jankbox

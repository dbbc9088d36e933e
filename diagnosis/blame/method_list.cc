#include "diagnosis/blame/method_list.h"

#include <algorithm>
#include <iterator>

#include "base/compact_sort.h"

namespace jankbox {

MethodList TrimMethods(std::vector<CallItem> items, size_t most) {
  const size_t before = items.size();
  for (uint64_t step = 1; items.size() > most && step <= kListSteps; ++step) {
    std::erase_if(items, [&](const CallItem& item) { return item.weight < step * kListStepNs; });
  }
  if (items.size() > most) {
    // A caller is at least as heavy as what it called, and is before it.
    std::vector<size_t> order(items.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    CompactSort(&order, [&](size_t a, size_t b) { return items[a].weight > items[b].weight; });
    order.resize(most);
    CompactSort(&order);
    std::vector<CallItem> kept;
    for (size_t i : order) kept.push_back(items[i]);
    items = std::move(kept);
  }
  return {items, before - items.size()};
}

}  // namespace jankbox

// A stable sort whose code is small instead of fast: std::sort is 1 KiB of code for each type in a
// library that every app carries, this 150 bytes. For what is sorted once a report, some thousands
// of items. O(n log n); allocates 8 bytes an item and a copy of all. An order that contradicts
// itself gives some order.
#ifndef JANKBOX_BASE_COMPACT_SORT_H_
#define JANKBOX_BASE_COMPACT_SORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

namespace jankbox {
namespace compact_sort {

// Whether item `a` belongs before item `b`.
using Before = bool (*)(const void* context, size_t a, size_t b);

// The items' numbers in order. REQUIRES count < 2^32.
std::vector<uint32_t> Order(size_t count, Before before, const void* context);

// Puts `order`.size() items of `item_bytes` each in that order.
void Apply(const std::vector<uint32_t>& order, void* items, size_t item_bytes);

}  // namespace compact_sort

template <typename T, typename Less = std::less<>>
void CompactSort(std::vector<T>* items, Less less = {}) {
  struct Context {
    const T* items;
    const Less* less;
  };
  const Context context = {items->data(), &less};
  const auto before = [](const void* opaque, size_t a, size_t b) {
    const auto* self = static_cast<const Context*>(opaque);
    return static_cast<bool>((*self->less)(self->items[a], self->items[b]));
  };
  const std::vector<uint32_t> order = compact_sort::Order(items->size(), before, &context);
  if constexpr (std::is_trivially_copyable_v<T>) {
    compact_sort::Apply(order, items->data(), sizeof(T));
  } else {
    std::vector<T> sorted;
    sorted.reserve(order.size());
    for (const uint32_t at : order) sorted.push_back(std::move((*items)[at]));
    items->swap(sorted);
  }
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_COMPACT_SORT_H_

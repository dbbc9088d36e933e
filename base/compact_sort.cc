#include "base/compact_sort.h"

#include <algorithm>
#include <cstring>

namespace jankbox::compact_sort {

std::vector<uint32_t> Order(size_t count, Before before, const void* context) {
  std::vector<uint32_t> order(count);
  std::vector<uint32_t> merged(count);
  for (size_t i = 0; i < count; ++i) order[i] = static_cast<uint32_t>(i);
  for (size_t run = 1; run < count; run *= 2) {
    for (size_t out = 0; out < count;) {
      size_t left = out;
      const size_t middle = std::min(left + run, count);
      size_t right = middle;
      const size_t end = std::min(middle + run, count);
      while (out < end) {
        const bool from_right =
            left == middle || (right < end && before(context, order[right], order[left]));
        merged[out++] = order[from_right ? right++ : left++];
      }
    }
    order.swap(merged);
  }
  return order;
}

void Apply(const std::vector<uint32_t>& order, void* items, size_t item_bytes) {
  std::vector<char> sorted(order.size() * item_bytes);
  char* const bytes = static_cast<char*>(items);
  for (size_t i = 0; i < order.size(); ++i) {
    memcpy(sorted.data() + i * item_bytes, bytes + order[i] * item_bytes, item_bytes);
  }
  if (!sorted.empty()) memcpy(bytes, sorted.data(), sorted.size());
}

}  // namespace jankbox::compact_sort

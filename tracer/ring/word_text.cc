#include "tracer/ring/word_text.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace jankbox {
namespace {

constexpr size_t kMaxWords = 8;

}  // namespace

void StoreWordText(std::atomic<uint64_t>* words, size_t count, std::string_view text) {
  for (size_t i = count; i-- > 0;) {
    const size_t room = i + 1 < count ? 8 : 7;  // a zero ends the last word
    uint64_t word = 0;
    if (8 * i < text.size())
      memcpy(&word, text.data() + 8 * i, std::min(room, text.size() - 8 * i));
    words[i].store(word, i == 0 ? std::memory_order_release : std::memory_order_relaxed);
  }
}

std::string ReadWordText(const std::atomic<uint64_t>* words, size_t count) {
  uint64_t copy[kMaxWords];
  count = std::min(count, kMaxWords);
  for (size_t i = 0; i < count; ++i) copy[i] = words[i].load(std::memory_order_acquire);
  const auto* text = reinterpret_cast<const char*>(copy);
  return std::string(text, strnlen(text, 8 * count));
}

}  // namespace jankbox

// Text of the ring's header in zero-padded atomic words: its writer is never stopped, and a reader
// in this process, or in another after a crash, sees whole words. Storing is NO-ALLOC and
// SIGNAL-SAFE; one writer at a time.
#ifndef JANKBOX_TRACER_RING_WORD_TEXT_H_
#define JANKBOX_TRACER_RING_WORD_TEXT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace jankbox {

// Cuts `text` so that a zero ends it. The first word is stored last: a reader sees a text of up to
// seven bytes, or all of its successor.
void StoreWordText(std::atomic<uint64_t>* words, size_t count, std::string_view text);

// A longer text that is being replaced may be read as a mix with the next one, unless a version is
// read before and after.
std::string ReadWordText(const std::atomic<uint64_t>* words, size_t count);

template <size_t kCount>
void StoreWordText(std::atomic<uint64_t> (*words)[kCount], std::string_view text) {
  StoreWordText(*words, kCount, text);
}
template <size_t kCount>
std::string ReadWordText(const std::atomic<uint64_t> (&words)[kCount]) {
  return ReadWordText(words, kCount);
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_WORD_TEXT_H_

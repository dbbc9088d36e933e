// Relaxed loads and stores of plain words that other threads write too: words of the ring are no
// std::atomic objects, and libc++ has std::atomic_ref from version 19 on only (NDK r29). HOT,
// NO-ALLOC, SIGNAL-SAFE.
#ifndef JANKBOX_BASE_ATOMIC_WORD_H_
#define JANKBOX_BASE_ATOMIC_WORD_H_

namespace jankbox {

template <typename Word>
inline Word LoadRelaxed(const Word* at) {
  return __atomic_load_n(at, __ATOMIC_RELAXED);
}

template <typename Word>
inline void StoreRelaxed(Word* at, Word word) {
  __atomic_store_n(at, word, __ATOMIC_RELAXED);
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_ATOMIC_WORD_H_

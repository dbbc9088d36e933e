// Relaxed loads and stores of plain words that other threads write too: words of the ring are no
// std::atomic objects, and libc++ has std::atomic_ref from version 19 on only (NDK r29). HOT,
// NO-ALLOC, SIGNAL-SAFE.
#ifndef JANKBOX_BASE_ATOMIC_WORD_H_
#define JANKBOX_BASE_ATOMIC_WORD_H_

namespace jankbox {

// A multiple of its size is a word's address, though 32-bit x86 does not ask that of 64-bit types.

template <typename Word>
inline Word LoadRelaxed(const Word* at) {
  typedef const Word Aligned __attribute__((aligned(sizeof(Word))));
  return __atomic_load_n(static_cast<Aligned*>(at), __ATOMIC_RELAXED);
}

template <typename Word>
inline void StoreRelaxed(Word* at, Word word) {
  typedef Word Aligned __attribute__((aligned(sizeof(Word))));
  __atomic_store_n(static_cast<Aligned*>(at), word, __ATOMIC_RELAXED);
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_ATOMIC_WORD_H_

#include "tracer/ring/window_buffer.h"

#include <sys/mman.h>

namespace jankbox {

WindowBuffer::~WindowBuffer() {
  if (words_ != nullptr) munmap(words_, capacity_ * sizeof(uint64_t));
}

bool WindowBuffer::Reset(size_t words) {
  taken_ = 0;
  if (words <= capacity_) return true;
  void* memory = mmap(nullptr, words * sizeof(uint64_t), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
#if defined(MADV_HUGEPAGE)
  madvise(memory, words * sizeof(uint64_t), MADV_HUGEPAGE);  // one page fault in place of 512
#endif
  if (words_ != nullptr) munmap(words_, capacity_ * sizeof(uint64_t));
  words_ = static_cast<uint64_t*>(memory);
  capacity_ = words;
  return true;
}

}  // namespace jankbox

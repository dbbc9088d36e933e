// What Jankbox's `new` gives where malloc has no memory. Its code has no exceptions: a failed `new`
// would end the app. The reserve carries the step that is under way. It is a part of the library,
// untouched and so without a page until it is needed. THREAD-SAFE; NO-ALLOC; not for signal
// handlers.
#ifndef JANKBOX_BASE_MEMORY_MEMORY_RESERVE_H_
#define JANKBOX_BASE_MEMORY_MEMORY_RESERVE_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace jankbox {

// Blocks of a fixed piece of memory: the first one that is large enough; neighbours that are free
// become one. Belongs to one thread at a time.
class BlockHeap {
 public:
  static constexpr size_t kAlignment = 64;  // of each block; REQUIRED of `memory`

  explicit constexpr BlockHeap(std::span<std::byte> memory) : memory_(memory) {}

  void* Take(size_t bytes);  // null if there is no room for it
  void Give(void* block);    // REQUIRES Has(block)
  bool Has(const void* block) const;

 private:
  struct Block;

  const std::span<std::byte> memory_;
  bool begun_ = false;
};

namespace memory_reserve {

// As malloc, and never null: if malloc has none, the block is of the reserve, and counted. If that
// is used up, too, OnUsedUp()'s function is called, and if it returns, the process ends.
void* Take(size_t bytes, size_t alignment = 1);
void Give(void* block);

// How often malloc had none.
uint64_t Uses();

// For a thread that can do without what it was about to do.
void OnUsedUp(void (*stand_still)());

}  // namespace memory_reserve
}  // namespace jankbox

#endif  // JANKBOX_BASE_MEMORY_MEMORY_RESERVE_H_

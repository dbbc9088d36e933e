#include "base/memory/memory_reserve.h"

#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>

namespace jankbox {

// At the begin of each block. What follows it is the block's, up to the next one.
struct alignas(BlockHeap::kAlignment) BlockHeap::Block {
  size_t bytes;  // with this header
  bool taken;

  std::byte* begin() { return reinterpret_cast<std::byte*>(this); }
  Block* next() { return reinterpret_cast<Block*>(begin() + bytes); }
};

void* BlockHeap::Take(size_t bytes) {
  if (bytes > memory_.size()) return nullptr;
  const size_t needed = sizeof(Block) + (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto* first = reinterpret_cast<Block*>(memory_.data());
  if (!begun_) *first = {memory_.size() / kAlignment * kAlignment, false};
  begun_ = true;
  const auto* end = memory_.data() + memory_.size() / kAlignment * kAlignment;
  for (Block* block = first; block->begin() != end; block = block->next()) {
    if (block->taken) continue;
    while (block->next()->begin() != end && !block->next()->taken) {
      block->bytes += block->next()->bytes;
    }
    if (block->bytes < needed) continue;
    const size_t rest = block->bytes - needed;
    if (rest > sizeof(Block)) {
      block->bytes = needed;
      *block->next() = {rest, false};
    }
    block->taken = true;
    return block + 1;
  }
  return nullptr;
}

void BlockHeap::Give(void* block) { (static_cast<Block*>(block) - 1)->taken = false; }

bool BlockHeap::Has(const void* block) const {
  const std::less<> before;
  return !before(block, memory_.data()) && before(block, memory_.data() + memory_.size());
}

namespace memory_reserve {
namespace {

// A step needs some 100 KiB for a report's texts and stacks; what is larger (the window, its
// trace) is not from here, or is done without.
constexpr size_t kBytes = 2 << 20;
// For the app's threads, which cannot stand still.
constexpr size_t kAppBytes = 64 << 10;

alignas(BlockHeap::kAlignment) std::byte g_memory[kBytes];
alignas(BlockHeap::kAlignment) std::byte g_app_memory[kAppBytes];
constinit BlockHeap g_heap{g_memory};
constinit BlockHeap g_app_heap{g_app_memory};
constinit std::atomic<bool> g_locked{false};
constinit std::atomic<uint64_t> g_uses{0};
constinit std::atomic<void (*)()> g_stand_still{nullptr};

// Held for some hundred steps at most, and only where memory is out.
class HeapLock {
 public:
  HeapLock() {
    while (g_locked.exchange(true, std::memory_order_acquire)) sched_yield();
  }
  ~HeapLock() { g_locked.store(false, std::memory_order_release); }
  HeapLock(const HeapLock&) = delete;
  HeapLock& operator=(const HeapLock&) = delete;
};

void* TakeOf(BlockHeap* heap, size_t bytes) {
  const HeapLock lock;
  return heap->Take(bytes);
}

void* FromMalloc(size_t bytes, size_t alignment) {
  if (alignment <= alignof(std::max_align_t)) return malloc(bytes == 0 ? 1 : bytes);
  void* block = nullptr;
  return posix_memalign(&block, alignment, bytes) == 0 ? block : nullptr;
}

}  // namespace

void* Take(size_t bytes, size_t alignment) {
  void* block = FromMalloc(bytes, alignment);
  if (__builtin_expect(block != nullptr, 1)) return block;
  const int saved_errno = errno;
  g_uses.fetch_add(1, std::memory_order_relaxed);
  if (alignment <= BlockHeap::kAlignment) {
    block = TakeOf(&g_heap, bytes);
    if (block == nullptr) {
      if (auto* stand_still = g_stand_still.load(std::memory_order_acquire)) stand_still();
      block = TakeOf(&g_app_heap, bytes);
    }
  }
  if (block == nullptr) abort();
  errno = saved_errno;
  return block;
}

void Give(void* block) {
  for (BlockHeap* heap : {&g_heap, &g_app_heap}) {
    if (!heap->Has(block)) continue;
    const HeapLock lock;
    return heap->Give(block);
  }
  free(block);
}

uint64_t Uses() { return g_uses.load(std::memory_order_relaxed); }

void OnUsedUp(void (*stand_still)()) {
  g_stand_still.store(stand_still, std::memory_order_release);
}

}  // namespace memory_reserve
}  // namespace jankbox

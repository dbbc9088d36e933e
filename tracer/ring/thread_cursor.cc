#include "tracer/ring/thread_cursor.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/wipe_on_fork.h"

namespace jankbox {

std::atomic<ThreadCursor*> ThreadCursorPool::blocks_[kMaxBlocks];
std::atomic<uint64_t> ThreadCursorPool::first_free_{0};

ThreadCursor* ThreadCursorPool::AddBlock(uint32_t index) {
  constexpr size_t kBytes = sizeof(ThreadCursor) * kCursorsPerBlock;
  bool wiped = false;  // if not, the recorder's fork handler does it
  auto* fresh = static_cast<ThreadCursor*>(MapWipedOnFork(kBytes, &wiped));
  if (fresh == nullptr) return nullptr;
  ThreadCursor* expected = nullptr;
  if (blocks_[index].compare_exchange_strong(expected, fresh, std::memory_order_acq_rel)) {
    return fresh;
  }
  munmap(fresh, kBytes);  // another thread was first; no thread has seen this one
  return expected;
}

ThreadCursor* ThreadCursorPool::Take(const void* owner) {
  uint64_t hint = first_free_.load(std::memory_order_acquire);
  const uint64_t releases = hint >> 32 << 32;
  for (uint32_t n = static_cast<uint32_t>(hint); n < kMaxBlocks * kCursorsPerBlock; ++n) {
    const uint32_t index = n / kCursorsPerBlock;
    ThreadCursor* block = blocks_[index].load(std::memory_order_acquire);
    if (block == nullptr) block = AddBlock(index);
    if (block == nullptr) return nullptr;
    ThreadCursor* cursor = &block[n % kCursorsPerBlock];
    const void* free = nullptr;
    if (cursor->owner.compare_exchange_strong(free, owner, std::memory_order_acq_rel)) {
      // Fails if a cursor was freed meanwhile: perhaps one that was passed over.
      first_free_.compare_exchange_strong(hint, releases | (n + 1), std::memory_order_release,
                                          std::memory_order_relaxed);
      return cursor;
    }
  }
  first_free_.compare_exchange_strong(hint, releases, std::memory_order_release,
                                      std::memory_order_relaxed);
  return nullptr;
}

void ThreadCursorPool::Release(ThreadCursor* cursor) {
  cursor->next.store(0, std::memory_order_relaxed);
  cursor->end.store(0, std::memory_order_relaxed);
  cursor->rebase_at.store(0, std::memory_order_relaxed);
  cursor->epoch.store(0, std::memory_order_relaxed);
  cursor->tid.store(0, std::memory_order_relaxed);
  cursor->chunk = nullptr;
  cursor->owner.store(nullptr, std::memory_order_release);
  for (uint32_t index = 0; index < kMaxBlocks; ++index) {
    ThreadCursor* block = blocks_[index].load(std::memory_order_acquire);
    if (block == nullptr) return;
    if (cursor < block || cursor >= block + kCursorsPerBlock) continue;
    const uint32_t n = index * kCursorsPerBlock + static_cast<uint32_t>(cursor - block);
    uint64_t hint = first_free_.load(std::memory_order_relaxed);
    uint64_t next;
    do {
      next = ((hint >> 32) + 1) << 32 | std::min(static_cast<uint32_t>(hint), n);
    } while (!first_free_.compare_exchange_weak(hint, next, std::memory_order_release,
                                                std::memory_order_relaxed));
    return;
  }
}

void ThreadCursorPool::AbandonAll() {
  for (std::atomic<ThreadCursor*>& block : blocks_) block.store(nullptr, std::memory_order_release);
  first_free_.store(0, std::memory_order_release);
}

}  // namespace jankbox

// The address at which a thread writes next in the ring, and the pool of these cursors. They are
// outside the thread's own storage, in pages that are wiped in a forked child: a child that
// inherits the pointer finds zeros, which is "no room", and never writes into its parent's ring. A
// cursor's memory is never unmapped, so the recorder may look at one whose thread ends meanwhile.
#ifndef JANKBOX_TRACER_RING_THREAD_CURSOR_H_
#define JANKBOX_TRACER_RING_THREAD_CURSOR_H_

#include <atomic>
#include <cstdint>

#include "tracer/ring/ring_format.h"

namespace jankbox {

// The data of the inline functions of jankbox/inline.h: ABI, see docs/formats/ring.md. A word goes
// to `next` while the raw counter is below `rebase_at` and `next` is below `end`; all zero means
// that every event takes the slow way.
struct InlineCursor {
  std::atomic<uint64_t> next;  // addresses
  std::atomic<uint64_t> end;
  std::atomic<uint64_t> rebase_at;  // ticks
};

struct alignas(64) ThreadCursor : InlineCursor {
  std::atomic<const void*> owner;  // the owner, by PlaceInThread(); null: free
  std::atomic<uint32_t> epoch;     // of the recording that it writes into
  std::atomic<int32_t> tid;
  RingChunk* chunk;
  RingChunk* closed;  // the one before `chunk`
  uint64_t base_ticks;
  uint64_t serial;
  uint64_t words_before;  // of events, in this thread's earlier chunks
  uint32_t chunk_index;
  RingLane lane;
  char name[16];
};

// LOCK-FREE, NO-ALLOC but for one mmap per 512 threads alive at once.
class ThreadCursorPool {
 public:
  // A cursor for the thread that `owner` represents, all zero but for that; null
  // if there is no memory.
  static ThreadCursor* Take(const void* owner);
  static void Release(ThreadCursor* cursor);

  // Every cursor that has an owner just now.
  template <typename Visit>
  static void ForEach(Visit visit) {
    for (const std::atomic<ThreadCursor*>& block : blocks_) {
      ThreadCursor* cursors = block.load(std::memory_order_acquire);
      if (cursors == nullptr) return;
      for (uint32_t i = 0; i < kCursorsPerBlock; ++i) {
        if (cursors[i].owner.load(std::memory_order_acquire) != nullptr) visit(&cursors[i]);
      }
    }
  }

  // In a forked child: the pointers that its thread inherited keep their wiped cursors, which are
  // never handed out again.
  static void AbandonAll();

 private:
  static constexpr uint32_t kCursorsPerBlock = 512;
  static constexpr uint32_t kMaxBlocks = 256;
  static ThreadCursor* AddBlock(uint32_t index);

  static std::atomic<ThreadCursor*> blocks_[kMaxBlocks];
  // Low half: none below this was free. High half counts releases, so that a Take() that met one
  // does not move the low half beyond what was released meanwhile.
  static std::atomic<uint64_t> first_free_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_THREAD_CURSOR_H_

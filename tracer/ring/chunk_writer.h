// A thread's way from chunk to chunk: claiming the next one of its share, carrying over what is
// open, closing the one before. On the app's thread, the only one that touches its cursor:
// NO-ALLOC, no lock, no system call.
#ifndef JANKBOX_TRACER_RING_CHUNK_WRITER_H_
#define JANKBOX_TRACER_RING_CHUNK_WRITER_H_

#include <atomic>
#include <cstdint>

#include "base/atomic_word.h"
#include "tracer/ring/ring_file.h"
#include "tracer/ring/thread_cursor.h"

namespace jankbox {

// The shares of the chunks. Of sixteen, the eight with even indexes are for the calls of watched
// threads, index 7 their markers, index 15 the markers of all others, and what is left their calls.
// What the watched threads' calls have not needed since the recording began, others' calls may
// have.
struct RingShare {
  RingLane lane;
  bool watched;
};

inline void StoreWord(uint64_t at, uint64_t word) {
  StoreRelaxed(reinterpret_cast<uint64_t*>(at), word);
}

// Takes `count` words that only this thread may take, by one instruction: whole as seen by its
// signal handlers. Returns their address; beyond the cursor's end if they do not fit.
inline uint64_t TakeWords(InlineCursor* cursor, uint64_t count) {
#if defined(__x86_64__)
  uint64_t taken = count * sizeof(uint64_t);
  asm volatile("xaddq %0, %1" : "+r"(taken), "+m"(cursor->next)::"memory");  // no lock
  return taken;
#else
  return cursor->next.fetch_add(count * sizeof(uint64_t), std::memory_order_relaxed);
#endif
}

// The next chunk of the share's rolling cursor that no thread has open; one of the calls' share if
// all for markers are open; null if those are, too.
RingChunk* ClaimChunk(RingFile* ring, RingShare share, int32_t tid);

// Whether [at, at + words) is in `chunk`, whatever the cursor has been moved to since it was taken.
bool Holds(const RingChunk* chunk, uint64_t at, uint64_t words);

// Whether the ring may have more chunks, and the threads of one of the shares will soon reuse one
// that was closed after `from_ticks`: half a step before they do. Any thread.
bool WantsChunks(const RingFile& ring, uint64_t from_ticks);

// Makes `chunk`, which this thread has claimed, the cursor's current one and closes the one before.
void StartChunk(ThreadCursor& cursor, RingFile* ring, RingChunk* chunk, bool watched, uint64_t now);

// The end of the words of the cursor's chunk.
uint64_t* EndOfWords(const ThreadCursor& cursor);

// Closes the cursor's chunk, whose words end at `end`.
void CloseChunk(ThreadCursor& cursor, const uint64_t* end, uint64_t now);

// Continues the chunk from a new base, if it has room for that and `words` more: its ticks would
// not fit in an event any more.
bool Rebase(ThreadCursor& cursor, uint64_t now, uint64_t words);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_CHUNK_WRITER_H_

#include "tracer/ring/chunk_writer.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c.h"
#include "tracer/event/event.h"
#include "tracer/ring/open_calls.h"
#include "tracer/ring/open_markers.h"
#include "tracer/ring/ring_checksums.h"

namespace jankbox {
namespace {

// Between taking a word beyond the end and comparing it with the end, a thread can be interrupted
// by a signal handler that moves the cursor to a chunk at a higher address: the word is then
// written here, and lost, instead of into the next chunk.
constexpr uint64_t kSpareWords = 2;

uint64_t EndOf(const RingChunk* chunk) {
  return reinterpret_cast<uint64_t>(chunk) + kChunkBytes - kSpareWords * sizeof(uint64_t);
}

// Concurrent readers see whole words all the same, and throw the chunk away.
inline void Clear(uint64_t* from, uint64_t* to) {
#if defined(__SANITIZE_THREAD__)
  for (; from < to; ++from) StoreWord(reinterpret_cast<uint64_t>(from), 0);
#else
  memset(from, 0, static_cast<size_t>(to - from) * sizeof(uint64_t));  // five times as fast
#endif
}

// How many chunks the share has among the first `ready`, and the index of the one of `turn`.
uint32_t ShareSize(RingShare share, uint32_t ready) {
  if (share.lane == RingLane::kMarkers) return (ready + (share.watched ? 8 : 0)) / 16;
  if (share.watched) return ready / 2;
  return ready / 8 * 3 + ready % 8 / 2;
}

uint32_t ShareIndex(RingShare share, uint32_t turn) {
  if (share.lane == RingLane::kMarkers) return turn * 16 + (share.watched ? 7 : 15);
  if (share.watched) return turn * 2;
  return turn / 3 * 8 + turn % 3 * 2 + 1;
}

template <typename Header>
auto& ShareCursor(RingShare share, Header* header) {
  auto& cursors = share.lane == RingLane::kMarkers ? header->next_marker_chunk : header->next_chunk;
  return cursors[share.watched ? 1 : 0];
}

// Twenty times a second at most.
__attribute__((cold)) bool ShareWantsChunks(const RingFile& ring, RingShare share, uint32_t ready,
                                            uint64_t from_ticks) {
  const uint32_t pool = ShareSize(share, ready);
  const uint32_t half_step = std::min(pool, ShareSize(share, RingFile::kChunksPerStep)) / 2;
  const uint64_t turn = ShareCursor(share, ring.header()).load(std::memory_order_relaxed);
  if (turn + half_step <= pool) return false;
  for (uint32_t ahead = half_step; ahead < pool; ++ahead) {
    const auto index = static_cast<uint32_t>((turn + ahead) % pool);
    const RingChunk* chunk = ring.chunk(ShareIndex(share, index));
    if (chunk->owner.load(std::memory_order_relaxed) != kNoOwner) continue;  // will be passed over
    return chunk->close_ticks.load(std::memory_order_relaxed) > from_ticks;
  }
  return true;
}

// Chunks become free behind a thread that looks for one, while others take those before it: in a
// small share that is nearly full, one round may find none although there always is one.
constexpr uint32_t kLeastAttempts = 64;

RingChunk* TakeFree(RingChunk* chunk, int32_t tid) {
  int32_t free = kNoOwner;
  if (chunk->owner.load(std::memory_order_relaxed) != free) return nullptr;
  const bool taken = chunk->owner.compare_exchange_strong(free, tid, std::memory_order_acquire,
                                                          std::memory_order_relaxed);
  return taken ? chunk : nullptr;
}

// How many of the `pool` chunks that the watched threads share are never lent: a thread that has
// nothing more to record keeps its last one. Two for each of them, but half of a small ring's.
uint64_t KeptForWatched(uint32_t pool) {
  return std::min<uint64_t>(2 * kMaxWatchedThreads, pool / 2);
}

// One of the watched threads' chunks for calls that none of them has needed so far, from their last
// one on, for another thread: if it is older than `next`, which that thread would get otherwise.
RingChunk* Borrow(RingFile* ring, uint32_t ready, const RingChunk* next, int32_t tid) {
  constexpr RingShare kOfWatched{RingLane::kCalls, /*watched=*/true};
  const uint32_t pool = ShareSize(kOfWatched, ready);
  const uint64_t kept =
      std::max(ShareCursor(kOfWatched, ring->header()).load(std::memory_order_relaxed),
               KeptForWatched(pool));
  if (ready < RingFile::kFewestChunks || kept >= pool) return nullptr;
  std::atomic<uint64_t>* turns = ring->borrowed();
  uint64_t turn = turns->load(std::memory_order_relaxed);
  const auto back = static_cast<uint32_t>(turn % (pool - kept));
  RingChunk* chunk = ring->chunk(ShareIndex(kOfWatched, pool - 1 - back));
  if (chunk->sequence.load(std::memory_order_relaxed) >=
      next->sequence.load(std::memory_order_relaxed)) {
    return nullptr;
  }
  const bool mine = turns->compare_exchange_strong(turn, turn + 1, std::memory_order_relaxed);
  return mine ? TakeFree(chunk, tid) : nullptr;
}

__attribute__((noinline)) RingChunk* ClaimOfShare(RingFile* ring, RingShare share, int32_t tid) {
  RingHeader* header = ring->mutable_header();
  const uint32_t ready = header->chunks_ready.load(std::memory_order_acquire);
  const uint32_t pool = ShareSize(share, ready);
  std::atomic<uint64_t>& cursor = ShareCursor(share, header);
  const uint32_t attempts = pool == 0 ? 0 : std::max(pool, kLeastAttempts);
  const auto chunk_of = [ring, share, pool](uint64_t turn) {
    return ring->chunk(ShareIndex(share, static_cast<uint32_t>(turn % pool)));
  };
  if (share.lane == RingLane::kCalls && !share.watched && pool != 0) {
    const RingChunk* next = chunk_of(cursor.load(std::memory_order_relaxed));
    if (RingChunk* chunk = Borrow(ring, ready, next, tid)) return chunk;
  }
  for (uint32_t attempt = 0; attempt < attempts; ++attempt) {
    RingChunk* chunk = chunk_of(cursor.fetch_add(1, std::memory_order_relaxed));
    if (TakeFree(chunk, tid) != nullptr) return chunk;
  }
  return nullptr;
}

}  // namespace

// Words that did not fit have moved `next` beyond it, so the end is after the last word that is not
// zero.
uint64_t* EndOfWords(const ThreadCursor& cursor) {
  uint64_t* end = reinterpret_cast<uint64_t*>(EndOf(cursor.chunk));
  const uint64_t next = cursor.next.load(std::memory_order_relaxed);
  if (next <= reinterpret_cast<uint64_t>(end)) return reinterpret_cast<uint64_t*>(next);
  const uint64_t* first = FirstWord(cursor.chunk);
  while (end > first && LoadRelaxed(end - 1) == 0) --end;
  return end;
}

__attribute__((cold)) bool WantsChunks(const RingFile& ring, uint64_t from_ticks) {
  const uint32_t ready = ring.header()->chunks_ready.load(std::memory_order_relaxed);
  if (ready >= ring.header()->chunk_count) return false;
  for (const RingLane lane : {RingLane::kCalls, RingLane::kMarkers}) {
    for (const bool watched : {false, true}) {
      if (ShareWantsChunks(ring, {lane, watched}, ready, from_ticks)) return true;
    }
  }
  return false;
}

bool Holds(const RingChunk* chunk, uint64_t at, uint64_t words) {
  return at > reinterpret_cast<uint64_t>(chunk) && at + words * sizeof(uint64_t) <= EndOf(chunk);
}

void CloseChunk(ThreadCursor& cursor, const uint64_t* end, uint64_t now) {
  RingChunk* chunk = cursor.chunk;
  const auto words = static_cast<uint32_t>(end - FirstWord(chunk));
  chunk->committed_words.store(words, std::memory_order_relaxed);
  chunk->close_ticks.store(now, std::memory_order_relaxed);
  chunk->owner.store(kNoOwner, std::memory_order_release);  // pairs with the CAS in ClaimChunk
  cursor.words_before += words;
  cursor.chunk = nullptr;
}

RingChunk* ClaimChunk(RingFile* ring, RingShare share, int32_t tid) {
  RingChunk* chunk = ClaimOfShare(ring, share, tid);
  if (chunk != nullptr || share.lane == RingLane::kCalls) return chunk;
  return ClaimOfShare(ring, {RingLane::kCalls, share.watched}, tid);
}

namespace {

// Closes the thread's chunk, and goes on in `chunk`. The one that it had closed before that, or
// null. Not inlined: a signal handler may record, on a small stack.
__attribute__((noinline)) RingChunk* GoOnIn(ThreadCursor& cursor, RingFile* ring, RingChunk* chunk,
                                            bool watched, uint64_t now) {
  RingHeader* header = ring->mutable_header();
  chunk->sequence.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);  // readers see 0 before any word changes
  OpenCallStack open;
  const bool calls = cursor.lane == RingLane::kCalls;
  const uint64_t* previous_end = nullptr;
  if (cursor.chunk != nullptr) {
    previous_end = EndOfWords(cursor);
    if (calls) open.Replay(cursor.chunk, previous_end);
  }
  uint64_t* words = reinterpret_cast<uint64_t*>(chunk + 1);
  uint64_t* end = reinterpret_cast<uint64_t*>(reinterpret_cast<uint8_t*>(chunk) + kChunkBytes);
  Clear(words, end);
  chunk->tid = cursor.tid.load(std::memory_order_relaxed);
  chunk->thread_serial = cursor.serial;
  chunk->thread_chunk_index = cursor.chunk_index++;
  chunk->words_before =
      cursor.words_before +
      (previous_end == nullptr ? 0 : static_cast<uint64_t>(previous_end - FirstWord(cursor.chunk)));
  chunk->base_ticks = now;
  chunk->close_ticks.store(0, std::memory_order_relaxed);
  chunk->committed_words.store(0, std::memory_order_relaxed);
  chunk->watched = watched ? 1 : 0;
  chunk->lane = static_cast<uint32_t>(cursor.lane);
  uint64_t name[2];
  memcpy(name, cursor.name, sizeof(name));
  chunk->thread_name[0] = name[0];
  chunk->thread_name[1] = name[1];
  chunk->open_calls = open.size();
  chunk->open_calls_truncated = open.truncated();
  words = open.WriteTo(words);
  if (!calls && cursor.chunk != nullptr) {
    words = CarryOpenMarkers(cursor.chunk, previous_end, now, words);
  }
  chunk->sequence.store(header->next_sequence.fetch_add(1, std::memory_order_relaxed),
                        std::memory_order_release);  // pairs with the reader's first load
  RingChunk* before = cursor.closed;
  cursor.closed = cursor.chunk;
  if (cursor.chunk != nullptr) CloseChunk(cursor, previous_end, now);
  cursor.chunk = chunk;
  cursor.base_ticks = now;
  cursor.next.store(reinterpret_cast<uint64_t>(words), std::memory_order_relaxed);
  cursor.end.store(EndOf(chunk), std::memory_order_relaxed);
  return before;
}

}  // namespace

void StartChunk(ThreadCursor& cursor, RingFile* ring, RingChunk* chunk, bool watched,
                uint64_t now) {
  RingChunk* const before = GoOnIn(cursor, ring, chunk, watched, now);
  // The one that was closed just now may still get the word of an event that was interrupted.
  const bool own = before != nullptr && before->thread_serial == cursor.serial;
  if (own && Crc32cIsFast()) ChecksumChunk(before);
}

bool Rebase(ThreadCursor& cursor, uint64_t now, uint64_t words) {
  constexpr uint64_t kRebaseWords = 3;
  if (cursor.chunk == nullptr) return false;
  const uint64_t at = cursor.next.load(std::memory_order_relaxed);
  if (at + (kRebaseWords + words) * sizeof(uint64_t) > cursor.end.load(std::memory_order_relaxed)) {
    return false;
  }
  StoreWord(at + 8, MakePayload(now & kPayloadMask));
  StoreWord(at + 16, MakePayload(now >> 60));
  std::atomic_thread_fence(std::memory_order_release);
  StoreWord(at, MakeEvent(EventKind::kRebase, 0, now));
  cursor.next.store(at + kRebaseWords * sizeof(uint64_t), std::memory_order_relaxed);
  cursor.base_ticks = now;
  return true;
}

}  // namespace jankbox

#include "tracer/ring/ring_checksums.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <iterator>

#include "base/atomic_word.h"
#include "base/crc32c.h"

namespace jankbox {
namespace {

constexpr size_t kCoveredFrom = offsetof(RingChunk, tid);
constexpr size_t kCoveredTo = offsetof(RingChunk, checksum);
constexpr size_t kDataBytes = kChunkBytes - sizeof(RingChunk);

size_t CommittedBytes(const RingChunk& chunk) {
  return chunk.open_calls * sizeof(RingOpenCall) +
         size_t{chunk.committed_words.load(std::memory_order_relaxed)} * sizeof(uint64_t);
}

// Another thread may be recycling the chunk: its words are copied whole, and what comes out then is
// thrown away by the sequence.
template <typename Word>
uint32_t CrcOfWords(uint32_t crc, const uint8_t* from, size_t bytes) {
  static_assert(kCoveredFrom % sizeof(uint32_t) == 0 && kCoveredTo % sizeof(uint32_t) == 0);
  Word copy[kCrc32cLanesBytes / sizeof(uint64_t)];
  auto* words = reinterpret_cast<const Word*>(from);
  for (size_t left = bytes / sizeof(Word); left > 0;) {
    const size_t count = std::min(left, std::size(copy));
    for (size_t i = 0; i < count; ++i) copy[i] = LoadRelaxed(words + i);
    crc = Crc32c(crc, copy, count * sizeof(Word));
    words += count;
    left -= count;
  }
  return crc;
}

}  // namespace

bool ChunkCountsAreSane(const RingChunk& chunk) {
  return chunk.open_calls <= kMaxOpenCalls && CommittedBytes(chunk) <= kDataBytes;
}

uint32_t CrcOfChunk(const RingChunk& chunk) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&chunk);
  const uint32_t crc = CrcOfWords<uint32_t>(0, bytes + kCoveredFrom, kCoveredTo - kCoveredFrom);
  return CrcOfWords<uint64_t>(crc, bytes + sizeof(RingChunk), CommittedBytes(chunk));
}

void ChecksumChunk(RingChunk* chunk) {
  const uint64_t sequence = chunk->sequence.load(std::memory_order_acquire);
  if (sequence == 0 || chunk->owner.load(std::memory_order_acquire) != kNoOwner) return;
  if (chunk->checksum.load(std::memory_order_relaxed) >> 32 == (sequence & UINT32_MAX)) return;
  if (!ChunkCountsAreSane(*chunk)) return;
  const uint32_t crc = CrcOfChunk(*chunk);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (chunk->sequence.load(std::memory_order_relaxed) != sequence) return;
  chunk->checksum.store(RingChecksum(sequence, crc), std::memory_order_relaxed);
}

void ChecksumClosedChunks(RingFile* ring, uint64_t closed_before_ticks) {
  const uint32_t ready = ring->header()->chunks_ready.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < ready; ++i) {
    RingChunk& chunk = *ring->chunk(i);
    const uint64_t sequence = chunk.sequence.load(std::memory_order_acquire);
    if (sequence == 0 || chunk.owner.load(std::memory_order_acquire) != kNoOwner) continue;
    const uint64_t closed = chunk.close_ticks.load(std::memory_order_relaxed);
    if (closed != 0 && closed < closed_before_ticks) ChecksumChunk(&chunk);
  }
}

ChunkCheck CheckChunk(const RingChunk& chunk) {
  const uint64_t sequence = chunk.sequence.load(std::memory_order_relaxed);
  const uint64_t checksum = chunk.checksum.load(std::memory_order_relaxed);
  if (checksum == 0 || checksum >> 32 != (sequence & UINT32_MAX)) return ChunkCheck::kNone;
  if (!ChunkCountsAreSane(chunk)) return ChunkCheck::kWrong;
  return checksum == RingChecksum(sequence, CrcOfChunk(chunk)) ? ChunkCheck::kRight
                                                               : ChunkCheck::kWrong;
}

}  // namespace jankbox

#include "tracer/ring/ring_checksums.h"

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

}  // namespace

bool ChunkCountsAreSane(const RingChunk& chunk) {
  return chunk.open_calls <= kMaxOpenCalls && CommittedBytes(chunk) <= kDataBytes;
}

// Another thread may be recycling the chunk: its words are read whole, and what comes out then is
// thrown away by the sequence.
uint32_t CrcOfChunk(const RingChunk& chunk) {
  static_assert(kCoveredFrom % sizeof(uint32_t) == 0 && kCoveredTo % sizeof(uint32_t) == 0);
  uint32_t header[(kCoveredTo - kCoveredFrom) / sizeof(uint32_t)];
  const auto* bytes = reinterpret_cast<const uint8_t*>(&chunk);
  const auto* words = reinterpret_cast<const uint32_t*>(bytes + kCoveredFrom);
  for (size_t i = 0; i < std::size(header); ++i) header[i] = LoadRelaxed(words + i);
  return Crc32cOfShared(Crc32c(0, header, sizeof(header)),
                        reinterpret_cast<const uint64_t*>(&chunk + 1),
                        CommittedBytes(chunk) / sizeof(uint64_t));
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

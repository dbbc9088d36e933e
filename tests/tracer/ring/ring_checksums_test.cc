#include "tracer/ring/ring_checksums.h"

#include <cstring>

#include "base/crc32c.h"
#include "base/file.h"
#include "tests/tracer/ring/test_ring.h"

namespace jankbox {
namespace {

class RingChecksumsTest : public RingTest {
 protected:
  // A ring of several closed chunks, all with a checksum, as its file's bytes.
  std::string RecordAndRead() {
    OpenRing(1 << 20);
    for (uint32_t i = 1; i < 20000; ++i) RecordEvent(EventKind::kInstant, i);
    ChecksumClosedChunks(ring_.get(), NowTicks());
    return ReadFile(ring_->path(), 8 << 20).value();
  }
};

TEST_F(RingChecksumsTest, ClosedChunksHaveOneAndTheOpenOneHasNone) {
  RecordAndRead();
  size_t closed = 0, open = 0;
  for (uint32_t i = 0; i < ring_->header()->chunks_ready.load(); ++i) {
    const RingChunk& chunk = *ring_->chunk(i);
    if (chunk.sequence.load() == 0) continue;
    const bool is_open = chunk.owner.load() != kNoOwner;
    EXPECT_EQ(CheckChunk(chunk), is_open ? ChunkCheck::kNone : ChunkCheck::kRight);
    ++(is_open ? open : closed);
  }
  EXPECT_EQ(open, 1u);
  EXPECT_GE(closed, 5u);
}

TEST_F(RingChecksumsTest, AKillLeavesAllButTheLastClosedOneWithOne) {
  OpenRing(1 << 20);
  for (uint32_t i = 1; i < 20000; ++i) RecordEvent(EventKind::kInstant, i);
  size_t closed = 0, unchecked = 0;
  for (uint32_t i = 0; i < ring_->header()->chunks_ready.load(); ++i) {
    const RingChunk& chunk = *ring_->chunk(i);
    if (chunk.sequence.load() == 0 || chunk.owner.load() != kNoOwner) continue;
    ++closed;
    EXPECT_NE(CheckChunk(chunk), ChunkCheck::kWrong);
    unchecked += CheckChunk(chunk) == ChunkCheck::kNone;
  }
  EXPECT_GE(closed, 5u);
  EXPECT_EQ(unchecked, Crc32cIsFast() ? 1 : closed);
}

TEST_F(RingChecksumsTest, AnyFlippedBitOfAClosedChunkIsSeenAndTheRestIsRead) {
  const std::string intact = RecordAndRead();
  const uint64_t whole = RingReader::FromBytes(intact)->CopyWindow(0, UINT64_MAX).threads.size();
  ASSERT_EQ(whole, 1u);
  uint32_t first = 0;
  while (ring_->chunk(first)->sequence.load() != 1) ++first;
  const size_t chunk_at = ring_->header()->chunks_offset + first * kChunkBytes;
  RingChunk header;
  memcpy(static_cast<void*>(&header), intact.data() + chunk_at, sizeof(header));
  const size_t covered_end = sizeof(RingChunk) + header.committed_words.load() * sizeof(uint64_t);
  for (size_t byte = 12; byte < covered_end; byte += byte < 200 ? 1 : 97) {
    if (byte >= offsetof(RingChunk, checksum) && byte < sizeof(RingChunk)) continue;
    std::string damaged = intact;
    damaged[chunk_at + byte] = static_cast<char>(damaged[chunk_at + byte] ^ (1 << (byte % 8)));
    const RingWindow window = RingReader::FromBytes(damaged)->CopyWindow(0, UINT64_MAX);
    ASSERT_EQ(window.corrupt_chunks, 1u) << "byte " << byte;
    ASSERT_EQ(window.threads.size(), 1u);
    ASSERT_TRUE(window.threads[0].chunks[0].gap_before);
  }
}

TEST_F(RingChecksumsTest, ARecycledChunkDoesNotKeepItsOldOne) {
  RecordAndRead();
  for (uint32_t i = 0; i < 300000; ++i) RecordEvent(EventKind::kInstant, 1);  // laps the ring
  for (uint32_t i = 0; i < ring_->header()->chunks_ready.load(); ++i) {
    EXPECT_NE(CheckChunk(*ring_->chunk(i)), ChunkCheck::kWrong);
  }
}

TEST_F(RingChecksumsTest, WordsWrittenAreWordsReadAndWordsMissing) {
  const std::string bytes = RecordAndRead();
  for (uint32_t i = 0; i < 300000; ++i) RecordEvent(EventKind::kInstant, 1);
  const RingWindow window = Window();
  ASSERT_EQ(window.threads.size(), 1u);
  uint64_t words = window.threads[0].words_before + window.threads[0].words_missing;
  for (const WindowChunk& chunk : window.threads[0].chunks) words += chunk.words.size();
  EXPECT_EQ(words, 19999u + 300000u);
}

}  // namespace
}  // namespace jankbox

#include "tracer/ring/ring_reader.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/file.h"
#include "tests/tracer/ring/test_ring.h"

namespace jankbox {
namespace {

class RingReaderTest : public RingTest {
 protected:
  // The bytes of a ring with some events, names and modules in it.
  std::string Bytes() {
    OpenRing(1 << 20);
    MethodRegistry::Get().Attach(ring_.get());
    MethodRegistry::Get().IdOfName("reader-test");
    MethodRegistry::Get().Detach();
    ring_->WriteModules("1000 2000 0 - /bin/x\n");
    for (uint32_t i = 1; i <= 3000; ++i) RecordEvent(EventKind::kInstant, i);
    const uint64_t name[1] = {0x6b726f77};  // "work"
    RecordEventAt(EventKind::kDispatchBegin, 4, UINT64_MAX, name);
    Recorder::Close();
    return ReadFile(ring_->path(), 16 << 20).value();
  }
};

TEST_F(RingReaderTest, FileHasTheContentsOfTheMapping) {
  Result<RingReader> reader = RingReader::FromBytes(Bytes());
  ASSERT_TRUE(reader.ok());
  const RingWindow window = reader->CopyWindow(0, UINT64_MAX);
  const std::vector<EventRecord> events = Events(window, CurrentTid());
  ASSERT_EQ(events.size(), 3001u);
  EXPECT_EQ(DispatchName(events.back()), "work");
  EXPECT_EQ(reader->ModulesText(), "1000 2000 0 - /bin/x\n");
  EXPECT_FALSE(reader->Names().empty());
  EXPECT_EQ(reader->header().pid, getpid());
}

TEST_F(RingReaderTest, TruncatedAnywhereItIsRefusedOrShorter) {
  const std::string bytes = Bytes();
  const size_t chunks_at = kRingSectionAlignment + kNamesBytes + kModulesBytes;
  const size_t first_chunk_end = chunks_at + kChunkBytes + sizeof(RingChunk);
  ASSERT_LT(first_chunk_end, bytes.size());
  for (size_t size = 0; size < bytes.size();) {
    // A copy of its own size: the address sanitizer sees a read after it.
    std::vector<uint64_t> cut((size + 7) / 8);
    if (size > 0) memcpy(cut.data(), bytes.data(), size);
    Result<RingReader> reader =
        RingReader::OverBytes({reinterpret_cast<const char*>(cut.data()), size});
    ASSERT_EQ(reader.ok(), size >= chunks_at) << size;
    if (reader.ok()) {
      ASSERT_EQ(reader->chunk_count(), (size - chunks_at) / kChunkBytes);
      ASSERT_LE(Events(reader->CopyWindow(0, UINT64_MAX), CurrentTid()).size(), 3001u);
      reader->Names();
      reader->ModulesText();
    }
    // Each byte of the header, of the names that are there and of the first chunk.
    const bool each =
        size <= kRingSectionAlignment + 64 || (size >= chunks_at - 16 && size <= first_chunk_end);
    size += each ? 1 : std::min<size_t>(997, size < chunks_at ? chunks_at - 16 - size : 997);
  }
}

TEST_F(RingReaderTest, DamagedBytesNeverLeaveBounds) {
  const std::string bytes = Bytes();
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 50; ++i) {
      // Half of the damage goes to the header and the first chunk headers.
      const size_t at = i % 2 == 0 ? random() % 4096 : random() % damaged.size();
      damaged[at] = static_cast<char>(random());
    }
    Result<RingReader> reader = RingReader::FromBytes(damaged);
    if (!reader.ok()) continue;
    for (const WindowThread& thread : reader->CopyWindow(0, UINT64_MAX).threads) {
      for (const WindowChunk& chunk : thread.chunks) {
        EventCursor cursor(chunk);
        EventRecord record;
        while (cursor.Next(&record)) DispatchName(record);
      }
    }
    reader->Names();
    reader->ModulesText();
  }
}

TEST_F(RingReaderTest, OtherVersionsAndMachinesAreRefused) {
  const std::string bytes = Bytes();
  for (size_t at : {0u, 8u, 12u}) {  // magic, version, ABI
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_EQ(RingReader::FromBytes(other).status().code(), StatusCode::kCorrupt) << at;
  }
}

TEST_F(RingReaderTest, ChunksThatEndedBeforeTheWindowAreLeftOut) {
  OpenRing(2 << 20);
  for (int i = 0; i < 5000; ++i) RecordEvent(EventKind::kInstant, 1);
  const uint64_t from = NowTicks();
  for (int i = 0; i < 10; ++i) RecordEvent(EventKind::kInstant, 2);
  const RingWindow window = RingReader(ring_->base(), ring_->bytes()).CopyWindow(from, UINT64_MAX);
  ASSERT_EQ(window.threads.size(), 1u);
  EXPECT_EQ(window.threads[0].chunks.size(), 1u);
  EXPECT_EQ(window.overwritten_chunks, 0u);
}

}  // namespace
}  // namespace jankbox

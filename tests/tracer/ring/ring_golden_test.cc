// A ring of known content, byte for byte: what a writer of this version leaves, and what every
// later reader of it must make of it. golden_ring.txt holds the words that are not zero.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "tracer/ring/open_calls.h"
#include "tracer/ring/ring_checksums.h"
#include "tracer/ring/ring_reader.h"
#include "tracer/ring/word_text.h"

namespace jankbox {
namespace {

constexpr uint64_t kBase = (uint64_t{3} << 36) - 100;  // the low 36 bits turn over within the chunk

class GoldenRing {
 public:
  GoldenRing() : words_(kBytes / 8) {
    FillHeader();
    FillSections();
    FillClosedChunk(chunk(1));
    FillOpenChunk(chunk(0));
    FillMarkerChunk(chunk(7));
  }
  std::string_view bytes() const { return {reinterpret_cast<const char*>(words_.data()), kBytes}; }
  // "offset bytes" of each word that is not zero.
  std::string Text() const {
    std::string text;
    for (size_t i = 0; i < words_.size(); ++i) {
      char line[64];
      snprintf(line, sizeof(line), "%06zx %016llx\n", i * 8,
               static_cast<unsigned long long>(words_[i]));
      if (words_[i] != 0) text += line;
    }
    return text;
  }

 private:
  static constexpr size_t kChunksAt = kRingSectionAlignment + kNamesBytes + kModulesBytes;
  static constexpr size_t kBytes = kChunksAt + 8 * kChunkBytes;

  RingHeader* header() { return reinterpret_cast<RingHeader*>(words_.data()); }
  RingChunk* chunk(size_t index) {
    return reinterpret_cast<RingChunk*>(words_.data() + (kChunksAt + index * kChunkBytes) / 8);
  }

  void FillHeader() {
    RingHeader* h = header();
    memcpy(h->magic, kRingMagic, sizeof(kRingMagic));
    h->version = kRingVersion;
    h->abi = kRingAbi;
    h->file_bytes = kBytes;
    h->names_offset = kRingSectionAlignment;
    h->modules_offset = kRingSectionAlignment + kNamesBytes;
    h->chunks_offset = kChunksAt;
    h->chunk_bytes = kChunkBytes;
    h->chunk_count = h->chunks_ready = 8;
    h->tick_source = static_cast<uint32_t>(TickSource::kTsc);
    h->pid = 4242;
    h->process_start_ticks = 777;
    strcpy(h->boot_id, "0f0f0f0f-1111-2222-3333-444444444444");
    strcpy(h->process_name, "golden");
    strcpy(h->app_name, "app");
    strcpy(h->app_version, "1.0");
    StoreWordText(&h->loop_name, "glib");
    h->clock_at_start = {kBase - 50, 1000, 2000, 3000};
    h->slow_threshold_ns = 700'000'000;
    h->window_ns = 10'000'000'000;
    h->next_chunk[0] = h->next_chunk[1] = 1;
    h->next_marker_chunk[1] = 1;
    h->next_sequence = 4;
    h->next_thread_serial = 3;
    h->dropped_events = 5;
    h->heartbeat_ticks = kBase + 900;
    h->calibrated_ticks = kBase + 800;
    h->calibrated_monotonic_ns = 1850;
    h->mode_changes = 1;
    h->modes[0].mode = static_cast<uint32_t>(RecordMode::kCoarse);
    h->modes[0].from_ticks = kBase;
    h->coarse_ticks = kBase + 7;
    h->watched[0].tid = 4242;
    h->watched[0].dispatch_begin_ticks = kBase + 10;
    h->watched[0].what[0] = 0x6b726f77;  // "work"
    h->incidents[0].state = static_cast<uint32_t>(RingIncidentState::kGrowing);
    h->incidents[0].begin_ticks = kBase + 10;
    h->ready = 1;
  }

  void FillSections() {
    const RingName text = {7, RingName::kText, 4};
    const RingName address = {8, RingName::kAddress, 8};
    uint64_t* at = words_.data() + kRingSectionAlignment / 8;
    memcpy(at, &text, sizeof(text));
    memcpy(at + 1, "draw", 4);
    memcpy(at + 2, &address, sizeof(address));
    at[3] = 0x401000;
    header()->names_bytes = 32;
    const std::string_view modules = "400000 500000 0 - /bin/golden\n";
    memcpy(words_.data() + header()->modules_offset / 8, modules.data(), modules.size());
    header()->modules_bytes = static_cast<uint32_t>(modules.size());
  }

  // A worker's: all one-word kinds, and moments across the turn of the low 36 bits.
  static void FillClosedChunk(RingChunk* c) {
    c->tid = 4243;
    c->thread_serial = 2;
    c->base_ticks = kBase;
    c->close_ticks = kBase + 600;
    c->thread_name[0] = 0x72656b726f77;  // "worker"
    uint64_t* at = FirstWord(c);
    *at++ = MakeEvent(EventKind::kBegin, 7, kBase + 1);
    *at++ = MakeEvent(EventKind::kInstant, kMaxMethodId, kBase + 99);
    *at++ = MakeEvent(EventKind::kEnd, 7, kBase + 100);
    c->committed_words = static_cast<uint32_t>(at - FirstWord(c));
    c->sequence = 1;
    c->checksum = RingChecksum(1, CrcOfChunk(*c));
  }

  // The UI thread's second chunk: open calls, kinds with payload, a rebase.
  static void FillOpenChunk(RingChunk* c) {
    c->owner = 4242;
    c->tid = 4242;
    c->thread_serial = 1;
    c->thread_chunk_index = 1;
    c->base_ticks = kBase + 5;
    c->thread_name[0] = 0x6e69616d;  // "main"
    c->watched = 1;
    c->words_before = 2036;
    c->open_calls = 2;
    auto* open = reinterpret_cast<RingOpenCall*>(c + 1);
    open[0] = {kBase - 40, 7, static_cast<uint32_t>(EventKind::kBegin)};
    open[1] = {kBase - 30, 0, static_cast<uint32_t>(EventKind::kDispatchBegin)};
    uint64_t* at = FirstWord(c);
    *at++ = MakeEvent(EventKind::kDispatchEnd, 0, kBase + 6);
    *at++ = MakeEvent(EventKind::kCounter, 8, kBase + 7);
    *at++ = MakePayload(static_cast<uint64_t>(-2) & kPayloadMask);
    *at++ = MakePayload(15);
    *at++ = MakeEvent(EventKind::kDispatchBegin, 4, kBase + 10);
    *at++ = MakePayload(0x6b726f77);
    *at++ = MakeEvent(EventKind::kFrame, 6 | 4 << 4 | 1 << 8, kBase + 11);  // of GTK, presented
    for (uint64_t word : {1000, 1016, 16, 1001, 1012, 77}) *at++ = MakePayload(word);
    *at++ = MakeEvent(EventKind::kRebase, 0, kBase << 4);
    *at++ = MakePayload((kBase << 4) & kPayloadMask);
    *at++ = MakePayload(0);
    *at++ = MakeEvent(EventKind::kEnd, 7, (kBase << 4) + 3);
    c->sequence = 2;
  }

  // The UI thread's markers: its second chunk, one that was open when it began, one whose text ends
  // within a word.
  static void FillMarkerChunk(RingChunk* c) {
    c->owner = 4242;
    c->tid = 4242;
    c->thread_serial = 1;
    c->thread_chunk_index = 1;
    c->base_ticks = kBase + 20;
    c->thread_name[0] = 0x6e69616d;  // "main"
    c->watched = 1;
    c->lane = static_cast<uint32_t>(RingLane::kMarkers);
    c->words_before = 2030;
    uint64_t* at = FirstWord(c);
    *at++ = MakeEvent(EventKind::kMarker, 9 | kCarriedMarker, kBase + 20);
    *at++ = MakePayload((kBase - 60) & kPayloadMask);
    *at++ = MakePayload(0);
    *at++ = MakePayload(0x7c323432347c42);  // "B|4242|"
    *at++ = MakePayload(0x6261);            // "ab"
    *at++ = MakeEvent(EventKind::kMarker, 6, kBase + 21);
    *at++ = MakePayload(0x323432347c45);  // "E|4242"
    *at++ = MakeEvent(EventKind::kWait, 1, kBase + 22);
    *at++ = MakePayload(5);
    *at++ = MakeEvent(EventKind::kThread, 0, kBase + 23);
    c->sequence = 3;
  }

  std::vector<uint64_t> words_;
};

TEST(RingGolden, BytesAreTheGoldenOnes) {
  std::ifstream file(JANKBOX_SOURCE_DIR "/tests/tracer/ring/golden_ring.txt");
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(GoldenRing().Text(), golden.str());
}

TEST(RingGolden, ReaderMakesOfThemWhatWasPutIn) {
  const GoldenRing ring;
  Result<RingReader> reader = RingReader::FromBytes(ring.bytes());
  ASSERT_TRUE(reader.ok());
  EXPECT_EQ(CheckChunk(reader->chunk(1)), ChunkCheck::kRight);
  EXPECT_EQ(reader->Names().at(0).name, "draw");
  EXPECT_EQ(reader->Names().at(1).address, 0x401000u);
  EXPECT_EQ(reader->ModulesText(), "400000 500000 0 - /bin/golden\n");
  const RingWindow window = reader->CopyWindow(0, UINT64_MAX);
  EXPECT_EQ(window.dropped_events, 5u);
  EXPECT_EQ(window.overwritten_chunks, 2u);  // one of each lane
  ASSERT_EQ(window.threads.size(), 2u);
  EXPECT_EQ(window.threads[0].name, "main");
  EXPECT_EQ(window.threads[0].words_before, 2036u);
  EXPECT_EQ(window.threads[0].chunks[0].open_calls.size(), 2u);
  EXPECT_EQ(window.threads[1].name, "worker");
  ASSERT_EQ(window.threads[0].markers.size(), 1u);
  EventCursor markers(window.threads[0].markers[0]);
  EventRecord marker;
  ASSERT_TRUE(markers.Next(&marker));
  EXPECT_EQ(MarkerText(marker), "B|4242|ab");
  EXPECT_EQ(marker.ticks, kBase - 60);
  ASSERT_TRUE(markers.Next(&marker));
  EXPECT_EQ(MarkerText(marker), "E|4242");
  EXPECT_EQ(marker.ticks, kBase + 21);
  ASSERT_TRUE(markers.Next(&marker) && markers.Next(&marker));
  EXPECT_EQ(marker.kind, EventKind::kThread);
  EXPECT_FALSE(markers.Next(&marker) || markers.torn());
  std::vector<uint64_t> ticks;
  for (const WindowThread& thread : window.threads) {
    EventCursor cursor(thread.chunks[0]);
    EventRecord record;
    while (cursor.Next(&record)) ticks.push_back(record.ticks);
    EXPECT_FALSE(cursor.torn());
  }
  EXPECT_EQ(ticks, (std::vector<uint64_t>{kBase + 6, kBase + 7, kBase + 10, kBase + 11,
                                          (kBase << 4) + 3, kBase + 1, kBase + 99, kBase + 100}));
}

}  // namespace
}  // namespace jankbox

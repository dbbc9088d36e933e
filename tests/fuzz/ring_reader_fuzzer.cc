// Ring files of any content: a valid frame of header, names, modules and chunks, into which the
// input is laid at the places that it names itself, so that the checks after the magic are
// reached.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tracer/ring/ring_reader.h"

namespace {

constexpr size_t kChunksAt =
    jankbox::kRingSectionAlignment + jankbox::kNamesBytes + jankbox::kModulesBytes;
constexpr size_t kChunks = 4;

constexpr size_t kBytes = kChunksAt + kChunks * jankbox::kChunkBytes;

// Aligned, and used again by each run: making 400 KB again costs more than reading them.
alignas(64) uint8_t g_ring[kBytes];

void MakeEmptyRing() {
  auto* header = reinterpret_cast<jankbox::RingHeader*>(g_ring);
  memcpy(header->magic, jankbox::kRingMagic, sizeof(header->magic));
  header->version = jankbox::kRingVersion;
  header->abi = jankbox::kRingAbi;
  header->file_bytes = kBytes;
  header->names_offset = jankbox::kRingSectionAlignment;
  header->modules_offset = jankbox::kRingSectionAlignment + jankbox::kNamesBytes;
  header->chunks_offset = kChunksAt;
  header->chunk_bytes = jankbox::kChunkBytes;
  header->chunk_count = kChunks;
  header->chunks_ready = kChunks;
  header->ready = 1;
}

// A piece of the input: one byte of section, two of offset, one of length, content.
struct Piece {
  uint8_t* at;
  size_t length;
  const uint8_t* content;
};

std::vector<Piece> PiecesOf(const uint8_t* input, size_t size) {
  static constexpr size_t kSections[] = {0, jankbox::kRingSectionAlignment,
                                         jankbox::kRingSectionAlignment + jankbox::kNamesBytes,
                                         kChunksAt};
  std::vector<Piece> pieces;
  for (size_t at = 0; at + 4 < size;) {
    const size_t offset = kSections[input[at] % 4] + (input[at + 1] | input[at + 2] << 8);
    const size_t length = std::min<size_t>(input[at + 3], size - at - 4);
    if (offset + length <= kBytes) pieces.push_back({g_ring + offset, length, input + at + 4});
    at += 4 + length;
  }
  return pieces;
}

void ReadLane(const std::vector<jankbox::WindowChunk>& chunks) {
  for (const jankbox::WindowChunk& chunk : chunks) {
    jankbox::EventCursor cursor(chunk);
    jankbox::EventRecord record;
    while (cursor.Next(&record)) {
      if (record.kind == jankbox::EventKind::kDispatchBegin) jankbox::DispatchName(record);
      if (record.kind == jankbox::EventKind::kMarker) jankbox::MarkerText(record);
    }
  }
}

void ReadAll() {
  jankbox::Result<jankbox::RingReader> reader =
      jankbox::RingReader::OverBytes({reinterpret_cast<const char*>(g_ring), kBytes});
  if (!reader.ok()) return;
  const jankbox::RingWindow window = reader->CopyWindow(0, UINT64_MAX);
  for (const jankbox::WindowThread& thread : window.threads) {
    ReadLane(thread.chunks);
    ReadLane(thread.markers);
  }
  reader->Names();
  reader->ModulesText();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  MakeEmptyRing();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  const std::vector<Piece> pieces = PiecesOf(input, size);
  for (const Piece& piece : pieces) memcpy(piece.at, piece.content, piece.length);
  ReadAll();
  for (const Piece& piece : pieces) memset(piece.at, 0, piece.length);
  MakeEmptyRing();
  return 0;
}

// Ring files of any content: a valid frame of header, names, modules and chunks, into which the
// input is laid at the places that it names itself, so that the checks behind the magic are
// reached.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "tracer/ring/ring_reader.h"

namespace {

constexpr size_t kChunksAt =
    jankbox::kRingSectionAlignment + jankbox::kNamesBytes + jankbox::kModulesBytes;
constexpr size_t kChunks = 4;

std::string EmptyRing() {
  std::string bytes(kChunksAt + kChunks * jankbox::kChunkBytes, '\0');
  auto* header = reinterpret_cast<jankbox::RingHeader*>(bytes.data());
  memcpy(header->magic, jankbox::kRingMagic, sizeof(header->magic));
  header->version = jankbox::kRingVersion;
  header->abi = jankbox::kRingAbi;
  header->file_bytes = bytes.size();
  header->names_offset = jankbox::kRingSectionAlignment;
  header->modules_offset = jankbox::kRingSectionAlignment + jankbox::kNamesBytes;
  header->chunks_offset = kChunksAt;
  header->chunk_bytes = jankbox::kChunkBytes;
  header->chunk_count = kChunks;
  header->chunks_ready = kChunks;
  header->ready = 1;
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* input, size_t size) {
  static const std::string empty = EmptyRing();
  std::string bytes = empty;
  // Pieces of the input: one byte of section, two of offset, one of length, content.
  for (size_t at = 0; at + 4 < size;) {
    static constexpr size_t kSections[] = {0, jankbox::kRingSectionAlignment,
                                           jankbox::kRingSectionAlignment + jankbox::kNamesBytes,
                                           kChunksAt};
    const size_t offset = kSections[input[at] % 4] + (input[at + 1] | input[at + 2] << 8);
    const size_t length = std::min<size_t>(input[at + 3], size - at - 4);
    if (offset + length <= bytes.size()) memcpy(bytes.data() + offset, input + at + 4, length);
    at += 4 + length;
  }
  jankbox::Result<jankbox::RingReader> reader = jankbox::RingReader::FromBytes(bytes);
  if (!reader.ok()) return 0;
  const jankbox::RingWindow window = reader->CopyWindow(0, UINT64_MAX);
  for (const jankbox::WindowThread& thread : window.threads) {
    for (const jankbox::WindowChunk& chunk : thread.chunks) {
      jankbox::EventCursor cursor(chunk);
      jankbox::EventRecord record;
      while (cursor.Next(&record)) {
        if (record.kind == jankbox::EventKind::kDispatchBegin) jankbox::DispatchName(record);
      }
    }
  }
  reader->Names();
  reader->ModulesText();
  return 0;
}

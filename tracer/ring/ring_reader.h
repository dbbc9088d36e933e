// Reads a ring: the live one of this process, while its threads go on writing, or a file that a
// dead process left. Stops no thread: a chunk that changed while it was copied is dropped and
// counted. Bytes of a file are untrusted: every count and offset is checked. Allocates; Jankbox's
// own threads and programs only.
#ifndef JANKBOX_TRACER_RING_RING_READER_H_
#define JANKBOX_TRACER_RING_RING_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/dcheck.h"
#include "base/status.h"
#include "tracer/ring/method_registry.h"
#include "tracer/ring/process_identity.h"
#include "tracer/ring/ring_format.h"
#include "tracer/ring/ring_window.h"

namespace jankbox {

class RingReader {
 public:
  // Of a mapped ring, which must outlive the reader.
  RingReader(const uint8_t* base, size_t bytes) : base_(base), bytes_(bytes) {}

  // Whether it is the header of a ring of this version and machine, and complete.
  static bool IsOurs(const RingHeader& header);

  // Of a file's bytes. kCorrupt if they are no ring of this version and machine.
  static Result<RingReader> FromBytes(std::string_view bytes);

  // The same without a copy: of bytes at an address that is a multiple of 8, which outlive the
  // reader and do not change.
  static Result<RingReader> OverBytes(std::string_view bytes);

  RingReader(RingReader&&) noexcept = default;
  RingReader& operator=(RingReader&&) noexcept = default;

  // Copies the events from `from_ticks` to `to_ticks` of every thread; each thread's first chunk
  // may begin earlier. `buffer` (null: a new one) takes the words; it must not be another window's.
  RingWindow CopyWindow(uint64_t from_ticks, uint64_t to_ticks,
                        std::shared_ptr<WindowBuffer> buffer = nullptr) const;

  // Words of events that a chunk has at most.
  static constexpr size_t kMaxChunkWords = (kChunkBytes - sizeof(RingChunk)) / sizeof(uint64_t);

  // Copies chunk `index` as it is now, and its words to `words`, to which `copy` refers. False if
  // it no longer has `sequence`: a thread has taken it again.
  // REQUIRES index < chunk_count() and room for kMaxChunkWords words.
  bool CopyChunk(size_t index, uint64_t sequence, uint64_t* words, WindowChunk* copy) const;

  // Whether chunk `index` has more than `words` words of events. REQUIRES index < chunk_count().
  bool HasMoreWords(size_t index, size_t words) const;

  // The names section.
  std::vector<MethodRegistry::Entry> Names() const;

  // The modules section, for ModuleMap::Parse.
  std::string ModulesText() const;

  const RingHeader& header() const { return *reinterpret_cast<const RingHeader*>(base_); }

  // Chunks that are whole in these bytes and handed out to threads; their contents are not checked.
  size_t chunk_count() const;
  // REQUIRES index < chunk_count().
  const RingChunk& chunk(size_t index) const {
    DCHECK(index < chunk_count());
    return *reinterpret_cast<const RingChunk*>(base_ + header().chunks_offset +
                                               index * kChunkBytes);
  }

 private:
  const uint8_t* base_;
  size_t bytes_;
  bool at_rest_ = false;         // a file's bytes: checksums are valid
  std::vector<uint64_t> owned_;  // aligned copy, for FromBytes
};

// The text of a zero-padded field of the header.
std::string HeaderText(const char* field, size_t size);
std::string DispatchNameText(const std::atomic<uint64_t>* words);
// The process that records into the ring. Of a dead ring, untrusted.
ProcessIdentity RecorderOf(const RingHeader& ring);

// How much the program was used since the recording began. Of a dead ring, untrusted.
struct RecordedUsage {
  std::string id;  // a UUID; empty: it is not to be counted, or all is
  uint64_t day = 0;
  uint64_t foreground_ns = 0;
  uint64_t sessions = 0;
  uint64_t frames = 0;
  uint64_t messages = 0;  // of watched threads
};
RecordedUsage UsageOf(const RingHeader& ring);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RING_READER_H_

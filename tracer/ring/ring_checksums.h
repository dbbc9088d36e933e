// Checksums of the ring's closed chunks: made by the thread that closed them, when it has closed
// another one, or by a Jankbox thread some time later; checked when a dead process's ring is read.
// They reveal a damaged file (a torn page after a power cut, a bad disk) from what was recorded.
#ifndef JANKBOX_TRACER_RING_RING_CHECKSUMS_H_
#define JANKBOX_TRACER_RING_RING_CHECKSUMS_H_

#include "tracer/ring/ring_file.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

// CRC32C of a closed chunk's header from `tid` to `words_before`, its open calls and its committed
// words. The counts must be in bounds.
uint32_t CrcOfChunk(const RingChunk& chunk);

// Whether the counts of a chunk are within it.
bool ChunkCountsAreSane(const RingChunk& chunk);

// Gives the chunk its checksum, if nobody writes it and it has none. Stops nobody, see below. Any
// thread: NO-ALLOC, no lock, no system call; 1 µs where Crc32cIsFast().
void ChecksumChunk(RingChunk* chunk);

// Gives a checksum to the chunks without one that were closed before `closed_before_ticks`. Stops
// nobody: a chunk that is recycled meanwhile gets one that is not its own, and says so.
void ChecksumClosedChunks(RingFile* ring, uint64_t closed_before_ticks);

enum class ChunkCheck { kNone, kRight, kWrong };

// kNone: open, or closed too short a time ago to have a checksum.
ChunkCheck CheckChunk(const RingChunk& chunk);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RING_CHECKSUMS_H_

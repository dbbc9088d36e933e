// CRC-32C (Castagnoli, RFC 3720), by the processor's own instruction if it has one. THREAD-SAFE,
// NO-ALLOC, SIGNAL-SAFE.
#ifndef JANKBOX_BASE_CRC32C_H_
#define JANKBOX_BASE_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace jankbox {

// Of `bytes` bytes at `data`, which follow what gave `crc` (0: nothing before).
uint32_t Crc32c(uint32_t crc, const void* data, size_t bytes);

// The same without the instruction; for processors that lack it, and to check it by.
uint32_t Crc32cPortable(uint32_t crc, const void* data, size_t bytes);

// Whether the processor has the instruction: 16 KiB take about 1 µs then, in pieces of a multiple
// of kCrc32cLanesBytes.
bool Crc32cIsFast();
inline constexpr size_t kCrc32cLanesBytes = 1536;

// As Crc32c(), of words that another thread may be changing: the caller throws away what comes out
// then.
uint32_t Crc32cOfShared(uint32_t crc, const uint64_t* words, size_t count);

}  // namespace jankbox

#endif  // JANKBOX_BASE_CRC32C_H_

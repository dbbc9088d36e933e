// The kernels that ring_write times: each does `passes` pairs, a begin and an end event with
// unknown code between them. Peers here are own re-implementations of a published design, no code
// of theirs.
#ifndef JANKBOX_BENCH_RING_WRITE_KERNELS_H_
#define JANKBOX_BENCH_RING_WRITE_KERNELS_H_

#include <cstdint>

namespace jankbox::bench {

// Limits of the machine.
void RdtscPairs(uint32_t passes);
void ClockGettimePairs(uint32_t passes);
void FloorPairs(uint32_t passes);  // the counter and one eight-byte store into 64 KiB

// Jankbox: by the public header, and by the library's exported functions.
void InlinePairs(uint32_t passes);
void LibraryPairs(uint32_t passes);

// btrace 2.0: two clock_gettime, gettid, one shared counter, one 16-byte record at the end.
void Btrace2Pairs(uint32_t passes);

// One call of a function compiled with -finstrument-functions; with empty functions, and with
// Jankbox's.
extern "C" void JankboxBenchEmptyHooksPairs(uint32_t passes);
extern "C" void JankboxBenchOurHooksPairs(uint32_t passes);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_RING_WRITE_KERNELS_H_

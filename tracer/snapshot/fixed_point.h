// A signed number times a slope that is a fixed-point fraction, rounded: ticks to nanoseconds.
// Exact if the product has 128 bits at most, as it always has. NO-ALLOC.
#ifndef JANKBOX_TRACER_SNAPSHOT_FIXED_POINT_H_
#define JANKBOX_TRACER_SNAPSHOT_FIXED_POINT_H_

#include <cstdint>

namespace jankbox {

inline constexpr int kFractionBits = 56;

// floor(number * slope / 2^56 + 1/2), at most 2^62 either way. REQUIRES slope >= 0. By products of
// 32 bits: for machines without 128-bit integers.
constexpr int64_t ScaleByHalves(int64_t number, int64_t slope) {
  const bool negative = number < 0;
  const uint64_t a = negative ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  const uint64_t b = static_cast<uint64_t>(slope);
  const uint64_t low = (a & 0xffffffff) * (b & 0xffffffff);
  const uint64_t left = (a >> 32) * (b & 0xffffffff) + (low >> 32);
  const uint64_t right = (a & 0xffffffff) * (b >> 32) + (left & 0xffffffff);
  uint64_t high_word = (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32);
  uint64_t low_word = right << 32 | (low & 0xffffffff);
  // Halves are rounded up, whatever the sign.
  const uint64_t half = (uint64_t{1} << (kFractionBits - 1)) - (negative ? 1 : 0);
  low_word += half;
  if (low_word < half) ++high_word;
  constexpr int64_t kMost = int64_t{1} << 62;
  constexpr int kHighShift = 64 - kFractionBits;
  const uint64_t scaled = high_word >> (62 - kHighShift) != 0
                              ? static_cast<uint64_t>(kMost)
                              : high_word << kHighShift | low_word >> kFractionBits;
  return negative ? -static_cast<int64_t>(scaled) : static_cast<int64_t>(scaled);
}

#if defined(__SIZEOF_INT128__)
using ScaledNumber = __int128;

// The same in full width.
inline ScaledNumber Scale(int64_t number, int64_t slope) {
  return (ScaledNumber{number} * slope + (ScaledNumber{1} << (kFractionBits - 1))) >> kFractionBits;
}
#else
using ScaledNumber = int64_t;

inline ScaledNumber Scale(int64_t number, int64_t slope) { return ScaleByHalves(number, slope); }
#endif

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_FIXED_POINT_H_

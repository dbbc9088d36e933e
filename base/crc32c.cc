#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "base/atomic_word.h"
#include "base/cpu_features.h"
#include "base/mutex.h"

namespace jankbox {
namespace {

constexpr uint32_t kReversedPolynomial = 0x82f63b78;

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) {
      value = value >> 1 ^ ((value & 1) != 0 ? kReversedPolynomial : 0);
    }
    table[i] = value;
  }
  return table;
}();

#if defined(__x86_64__)
#define JANKBOX_CRC_TARGET __attribute__((target("sse4.2")))
bool HasInstruction() { return HasSse42(); }
JANKBOX_CRC_TARGET uint64_t Step8(uint64_t crc, uint64_t word) {
  return __builtin_ia32_crc32di(crc, word);
}
JANKBOX_CRC_TARGET uint32_t Step1(uint32_t crc, uint8_t byte) {
  return __builtin_ia32_crc32qi(crc, byte);
}
#elif defined(__aarch64__)
#define JANKBOX_CRC_TARGET  // by assembly: GCC and clang name the target and the intrinsics apart
bool HasInstruction() {
  constexpr unsigned long kHwcapCrc32 = 1ul << 7;
  return (getauxval(AT_HWCAP) & kHwcapCrc32) != 0;
}
JANKBOX_CRC_TARGET uint64_t Step8(uint64_t crc, uint64_t word) {
  asm(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(crc) : "r"(word));
  return static_cast<uint32_t>(crc);
}
JANKBOX_CRC_TARGET uint32_t Step1(uint32_t crc, uint8_t byte) {
  asm(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"(uint32_t{byte}));
  return crc;
}
#endif

uint64_t SharedWordAt(const uint8_t* data) {
  return LoadRelaxed(reinterpret_cast<const uint64_t*>(data));
}

#if defined(JANKBOX_CRC_TARGET)
// The instruction takes three cycles, and one can begin in each: three stretches at a time.
constexpr size_t kLaneBytes = kCrc32cLanesBytes / 3;

// What `kLaneBytes` zeros do to the state, by the bytes of the state: it is a linear function.
constexpr auto kOverLane = [] {
  using Columns = std::array<uint32_t, 32>;  // of the bits of the state
  constexpr auto apply = [](const Columns& columns, uint32_t state) {
    uint32_t result = 0;
    for (size_t bit = 0; bit < 32; ++bit) result ^= (state >> bit & 1) != 0 ? columns[bit] : 0;
    return result;
  };
  Columns zeros{kReversedPolynomial};  // one bit of them
  for (uint32_t bit = 1; bit < 32; ++bit) zeros[bit] = 1u << (bit - 1);
  for (size_t bits = 1; bits < kLaneBytes * 8; bits *= 2) {
    Columns twice{};
    for (size_t bit = 0; bit < 32; ++bit) twice[bit] = apply(zeros, zeros[bit]);
    zeros = twice;
  }
  std::array<std::array<uint32_t, 256>, 4> table{};
  for (uint32_t byte = 0; byte < 4; ++byte) {
    for (uint32_t i = 0; i < 256; ++i) table[byte][i] = apply(zeros, i << byte * 8);
  }
  return table;
}();
static_assert((kLaneBytes & (kLaneBytes - 1)) == 0, "doubled from one bit");

uint64_t OverLane(uint64_t state) {
  return kOverLane[0][state & 0xff] ^ kOverLane[1][state >> 8 & 0xff] ^
         kOverLane[2][state >> 16 & 0xff] ^ kOverLane[3][state >> 24 & 0xff];
}

uint64_t WordAt(const uint8_t* data) {
  uint64_t word;
  memcpy(&word, data, sizeof(word));
  return word;
}

template <uint64_t (*kWordAt)(const uint8_t*)>
JANKBOX_CRC_TARGET uint32_t Crc32cByInstruction(uint32_t crc, const uint8_t* data, size_t bytes) {
  uint64_t state = static_cast<uint32_t>(~crc);
  for (; bytes >= kCrc32cLanesBytes; bytes -= kCrc32cLanesBytes, data += 2 * kLaneBytes) {
    uint64_t second = 0, third = 0;
#pragma GCC unroll 4
    for (const uint8_t* end = data + kLaneBytes; data < end; data += 8) {
      state = Step8(state, kWordAt(data));
      second = Step8(second, kWordAt(data + kLaneBytes));
      third = Step8(third, kWordAt(data + 2 * kLaneBytes));
    }
    state = OverLane(OverLane(state) ^ second) ^ third;
  }
  for (; bytes >= 8; data += 8, bytes -= 8) {
    state = Step8(state, kWordAt(data));
  }
  auto rest = static_cast<uint32_t>(state);
  for (; bytes > 0; ++data, --bytes) rest = Step1(rest, *data);
  return ~rest;
}
#endif

}  // namespace

uint32_t Crc32cPortable(uint32_t crc, const void* data, size_t bytes) {
  const auto* at = static_cast<const uint8_t*>(data);
  uint32_t state = ~crc;
  for (; bytes > 0; ++at, --bytes) state = kTable[(state ^ *at) & 0xff] ^ state >> 8;
  return ~state;
}

bool Crc32cIsFast() {
#if defined(JANKBOX_CRC_TARGET)
  return AskOnce<HasInstruction>();
#else
  return false;
#endif
}

uint32_t Crc32c(uint32_t crc, const void* data, size_t bytes) {
#if defined(JANKBOX_CRC_TARGET)
  if (Crc32cIsFast())
    return Crc32cByInstruction<WordAt>(crc, static_cast<const uint8_t*>(data), bytes);
#endif
  return Crc32cPortable(crc, data, bytes);
}

uint32_t Crc32cOfShared(uint32_t crc, const uint64_t* words, size_t count) {
  const auto* at = reinterpret_cast<const uint8_t*>(words);
#if defined(JANKBOX_CRC_TARGET)
  if (Crc32cIsFast()) return Crc32cByInstruction<SharedWordAt>(crc, at, count * sizeof(*words));
#endif
  for (const uint8_t* end = at + count * sizeof(*words); at < end; at += sizeof(*words)) {
    const uint64_t word = SharedWordAt(at);
    crc = Crc32cPortable(crc, &word, sizeof(word));
  }
  return crc;
}

}  // namespace jankbox

#include "base/crc32c.h"

#include <array>
#include <cstring>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

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

#if defined(JANKBOX_CRC_TARGET)
JANKBOX_CRC_TARGET uint32_t Crc32cByInstruction(uint32_t crc, const uint8_t* data, size_t bytes) {
  uint64_t state = ~crc;
  for (; bytes >= 8; data += 8, bytes -= 8) {
    uint64_t word;
    memcpy(&word, data, sizeof(word));
    state = Step8(state, word);
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

uint32_t Crc32c(uint32_t crc, const void* data, size_t bytes) {
#if defined(JANKBOX_CRC_TARGET)
  if (AskOnce<HasInstruction>())
    return Crc32cByInstruction(crc, static_cast<const uint8_t*>(data), bytes);
#endif
  return Crc32cPortable(crc, data, bytes);
}

}  // namespace jankbox

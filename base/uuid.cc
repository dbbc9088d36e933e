#include "base/uuid.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstring>

#include "base/clock.h"
#include "base/scoped_fd.h"

namespace jankbox {
namespace {

void FillRandom(uint8_t* bytes, size_t count) {
#if !defined(__ANDROID__)  // bionic has it only from API 28
  if (getrandom(bytes, count, GRND_NONBLOCK) == static_cast<ssize_t>(count)) return;
#endif
  ScopedFd fd(open("/dev/urandom", O_RDONLY | O_CLOEXEC));
  if (fd.valid() && read(fd.get(), bytes, count) == static_cast<ssize_t>(count)) return;
  uint64_t seed = MonotonicNs() ^ (static_cast<uint64_t>(getpid()) << 32);
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    bytes[i] = static_cast<uint8_t>(seed >> 56);
  }
}

}  // namespace

std::string NewUuid(uint64_t realtime_ms) {
  uint64_t random[2];
  FillRandom(reinterpret_cast<uint8_t*>(random), sizeof(random));
  return DerivedUuid(realtime_ms, random);
}

std::string DerivedUuid(uint64_t realtime_ms, const uint64_t (&seed)[2]) {
  uint8_t bytes[16];
  memcpy(bytes, seed, sizeof(bytes));
  for (int i = 0; i < 6; ++i) bytes[i] = static_cast<uint8_t>(realtime_ms >> (40 - 8 * i));
  bytes[6] = static_cast<uint8_t>(0x70 | (bytes[6] & 0x0f));
  bytes[8] = static_cast<uint8_t>(0x80 | (bytes[8] & 0x3f));
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

bool IsUuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? c != '-' : !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

}  // namespace jankbox

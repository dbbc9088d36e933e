#include "base/checked_bytes.h"

#include <cstdint>

#include "base/crc32c.h"

namespace jankbox {
namespace {

constexpr size_t kChecksumBytes = sizeof(uint32_t);

}  // namespace

std::string AddChecksum(std::string_view magic, std::string_view content) {
  std::string bytes(magic);
  const uint32_t checksum = Crc32c(0, content.data(), content.size());
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(checksum >> shift));
  return bytes.append(content);
}

std::optional<std::string_view> CheckedContent(std::string_view magic, std::string_view bytes) {
  if (bytes.size() < magic.size() + kChecksumBytes || !bytes.starts_with(magic)) return {};
  bytes.remove_prefix(magic.size());
  uint32_t checksum = 0;
  for (size_t i = 0; i < kChecksumBytes; ++i) {
    checksum |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  bytes.remove_prefix(kChecksumBytes);
  if (Crc32c(0, bytes.data(), bytes.size()) != checksum) return {};
  return bytes;
}

}  // namespace jankbox

#include "tracer/hook/memory_map.h"

#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/file.h"

namespace jankbox {
namespace {

constexpr size_t kMaxMapsBytes = 32u << 20;  // a browser's is 1 to 2 MiB

// Takes "<hexadecimal><separator>" off the front of `line`.
bool TakeHex(std::string_view* line, char separator, uint64_t* value) {
  const char* end = line->data() + line->size();
  const auto [next, error] = std::from_chars(line->data(), end, *value, 16);
  if (error != std::errc() || next == end || *next != separator) return false;
  line->remove_prefix(static_cast<size_t>(next - line->data()) + 1);
  return true;
}

}  // namespace

MemoryMap MemoryMap::Load() { return Parse(ReadProcFile("/proc/self/maps", kMaxMapsBytes)); }

MemoryMap MemoryMap::Parse(std::string_view text) {
  MemoryMap map;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    Mapping mapping{};
    if (!TakeHex(&line, '-', &mapping.start) || !TakeHex(&line, ' ', &mapping.end)) continue;
    if (line.size() < 4 || mapping.start >= mapping.end) continue;
    mapping.protection = (line[0] == 'r' ? PROT_READ : 0) | (line[1] == 'w' ? PROT_WRITE : 0) |
                         (line[2] == 'x' ? PROT_EXEC : 0);
    if (!map.mappings_.empty() && mapping.start < map.mappings_.back().end) continue;
    map.mappings_.push_back(mapping);
  }
  return map;
}

std::optional<int> MemoryMap::ProtectionAt(uint64_t address) const {
  auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                [](uint64_t a, const Mapping& m) { return a < m.start; });
  if (after == mappings_.begin()) return std::nullopt;
  const Mapping& mapping = *(after - 1);
  if (address >= mapping.end) return std::nullopt;
  return mapping.protection;
}

}  // namespace jankbox

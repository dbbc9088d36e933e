#include "tracer/hook/memory_map.h"

#include <fcntl.h>
#include <sys/ioctl.h>
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

// linux/fs.h of Linux 6.11: struct procmap_query and what goes with it.
struct ProcmapQuery {
  uint64_t size;
  uint64_t flags;  // 0: the mapping that contains `address`
  uint64_t address;
  uint64_t start;
  uint64_t end;
  uint64_t protection;  // 1: read, 2: write, 4: execute
  uint64_t unused[4];   // of its file
  uint32_t name_bytes;
  uint32_t build_id_bytes;
  uint64_t name;
  uint64_t build_id;
};
static_assert(sizeof(ProcmapQuery) == 104);
constexpr unsigned long kProcmapQuery = _IOWR('f', 17, ProcmapQuery);

}  // namespace

MemoryMap MemoryMap::Load() {
  MemoryMap map;
  map.maps_.Reset(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  return map.Ask(reinterpret_cast<uintptr_t>(&kMaxMapsBytes)) != nullptr ? std::move(map)
                                                                         : LoadText();
}

MemoryMap MemoryMap::LoadText() { return Parse(ReadProcFile("/proc/self/maps", kMaxMapsBytes)); }

const MemoryMap::Mapping* MemoryMap::Ask(uint64_t address) {
  ProcmapQuery query = {.size = sizeof(query), .address = address};
  if (!maps_.valid() || ioctl(maps_.get(), kProcmapQuery, &query) != 0) return nullptr;
  const Mapping mapping = {query.start, query.end,
                           ((query.protection & 1) != 0 ? PROT_READ : 0) |
                               ((query.protection & 2) != 0 ? PROT_WRITE : 0) |
                               ((query.protection & 4) != 0 ? PROT_EXEC : 0)};
  const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address, StartsAfter);
  return &*mappings_.insert(after, mapping);
}

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

const MemoryMap::Mapping* MemoryMap::Find(uint64_t address) const {
  const auto after = std::upper_bound(mappings_.begin(), mappings_.end(), address, StartsAfter);
  return after != mappings_.begin() && address < (after - 1)->end ? &*(after - 1) : nullptr;
}

std::optional<int> MemoryMap::ProtectionAt(uint64_t address) {
  const Mapping* mapping = Find(address);
  if (mapping == nullptr) mapping = Ask(address);
  if (mapping == nullptr) return std::nullopt;
  return mapping->protection;
}

}  // namespace jankbox

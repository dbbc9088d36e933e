#include "bench/footprint/memory_use.h"

#include <cstdio>
#include <sstream>

#include "tracer/ring/ring_place.h"

namespace jankbox::bench {
namespace {

// "Rss:   12 kB" gives its bytes.
bool Field(const std::string& line, const char* name, uint64_t* bytes) {
  const std::string key = std::string(name) + ":";
  if (line.compare(0, key.size(), key) != 0) return false;
  unsigned long long kib = 0;
  sscanf(line.c_str() + key.size(), "%llu", &kib);
  *bytes = kib << 10;
  return true;
}

}  // namespace

MemoryUse SumSmaps(const std::string& smaps) {
  MemoryUse use;
  bool ring = false;
  std::istringstream lines(smaps);
  for (std::string line; std::getline(lines, line);) {
    unsigned long long from = 0, to = 0;
    uint64_t bytes = 0;
    if (Field(line, "Rss", &bytes)) {
      (ring ? use.ring_rss_bytes : use.rss_bytes) += bytes;
    } else if (Field(line, "Private_Dirty", &bytes)) {
      if (!ring) use.private_dirty_bytes += bytes;
    } else if (sscanf(line.c_str(), "%llx-%llx ", &from, &to) == 2) {
      ring = line.find(kRingFileSuffix) != std::string::npos;
      if (ring) use.ring_mapped_bytes += to - from;
    }
  }
  return use;
}

}  // namespace jankbox::bench

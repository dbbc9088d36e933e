// The sums of a /proc/PID/smaps, the ring's mapping apart. Pure.
#ifndef JANKBOX_BENCH_FOOTPRINT_MEMORY_USE_H_
#define JANKBOX_BENCH_FOOTPRINT_MEMORY_USE_H_

#include <cstdint>
#include <string>

namespace jankbox::bench {

struct MemoryUse {
  uint64_t rss_bytes = 0;            // without the ring
  uint64_t private_dirty_bytes = 0;  // without the ring
  uint64_t ring_rss_bytes = 0;
  uint64_t ring_mapped_bytes = 0;
};

MemoryUse SumSmaps(const std::string& smaps);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_FOOTPRINT_MEMORY_USE_H_

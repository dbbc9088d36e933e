#include "tracer/ftrace/fault_cost.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"

namespace jankbox {
namespace {

constexpr size_t kPagesInPart = 256;

}  // namespace

uint64_t MeasurePageFaultNs() {
  // One mapping beyond the caches of a core: pages that were just freed are cheaper by a quarter.
  std::array<uint64_t, 4> parts;
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size = parts.size() * kPagesInPart * page;
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 0;
  madvise(memory, size, MADV_NOHUGEPAGE);
  auto* byte = static_cast<volatile char*>(memory);
  for (uint64_t& part : parts) {
    const uint64_t begin = ClockNs(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < kPagesInPart; ++i, byte += page) *byte = 1;
    part = (ClockNs(CLOCK_THREAD_CPUTIME_ID) - begin) / kPagesInPart;
  }
  munmap(memory, size);
  std::sort(parts.begin(), parts.end());
  return parts[2];  // the dearest may have met an interrupt
}

}  // namespace jankbox

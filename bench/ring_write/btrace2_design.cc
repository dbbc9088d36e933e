#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>

#include "base/clock.h"
#include "bench/harness/opaque.h"
#include "bench/ring_write/kernels.h"

namespace jankbox::bench {
namespace {

constexpr uint64_t kWords = (16u << 20) / sizeof(uint64_t);
constexpr uint32_t kMethod = 7;

uint64_t* Records() {
  static const std::unique_ptr<uint64_t[]> records(new uint64_t[kWords]());
  return records.get();
}

alignas(64) std::atomic<uint64_t> g_next{0};  // one for all threads, as in the original

// As at the end of a method: who, what, how long in one word, when it began in the other.
void RecordExit(uint64_t* records, uint64_t begin_ns) {
  const uint64_t end_ns = MonotonicNs();
  const uint64_t tid = static_cast<uint64_t>(syscall(SYS_gettid)) & 0x7fff;
  const uint64_t at = g_next.fetch_add(2, std::memory_order_relaxed) % kWords;
  records[at] = begin_ns;
  records[at + 1] = tid << 49 | uint64_t{kMethod} << 26 | ((end_ns - begin_ns) & 0x3ffffff);
}

}  // namespace

JANKBOX_BENCH_KERNEL void Btrace2Pairs(uint32_t passes) {
  uint64_t* records = Records();
  for (uint32_t i = 0; i < passes; ++i) {
    const uint64_t begin_ns = MonotonicNs();
    UnknownCode();
    RecordExit(records, begin_ns);
    UnknownCode();
  }
}

}  // namespace jankbox::bench

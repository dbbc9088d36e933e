#include "bench/ring_write/matrix_design.h"

#include <time.h>

#include "base/clock.h"
#include "bench/harness/opaque.h"

namespace jankbox::bench {

MatrixDesign::MatrixDesign() : main_thread_(pthread_self()), records_(new uint64_t[kRecords]()) {
  clock_ = std::thread([this] {
    const timespec interval = {0, 5'000'000};
    while (!stop_.load(std::memory_order_relaxed)) {
      now_ms_.store(MonotonicNs() / kNsPerMs, std::memory_order_relaxed);
      nanosleep(&interval, nullptr);
    }
  });
}

MatrixDesign::~MatrixDesign() {
  stop_.store(true, std::memory_order_relaxed);
  clock_.join();
}

inline void MatrixDesign::Record(uint64_t id, uint64_t begin_bit) {
  if (pthread_self() != main_thread_) return;
  records_[next_] = begin_bit << 63 | id << 43 | now_ms_.load(std::memory_order_relaxed);
  if (++next_ == kRecords) next_ = 0;
}

JANKBOX_BENCH_KERNEL void MatrixDesign::Pairs(uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    Record(7, 1);
    UnknownCode();
    Record(7, 0);
    UnknownCode();
  }
}

}  // namespace jankbox::bench

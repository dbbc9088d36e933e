#include "bench/ring_write/two_threads.h"

#include "base/clock.h"

namespace jankbox::bench {

TwoThreads::TwoThreads(Kernel kernel) : kernel_(kernel), other_([this] { Serve(); }) {}

TwoThreads::~TwoThreads() {
  stop_.store(true);
  round_.fetch_add(1);
  round_.notify_one();
  other_.join();
}

double TwoThreads::NsPerPass(uint32_t passes) {
  passes_ = passes;
  waiting_.store(0);
  finished_.store(0);
  round_.fetch_add(1);
  round_.notify_one();
  const double own_ns = RunOwnShare(passes);
  while (finished_.load(std::memory_order_acquire) != 2) {
  }
  return (own_ns + other_ns_) / 2;
}

double TwoThreads::RunOwnShare(uint32_t passes) {
  waiting_.fetch_add(1);
  while (waiting_.load(std::memory_order_acquire) != 2) {
  }
  const uint64_t begin_ns = MonotonicNs();
  kernel_(passes);
  const double ns = static_cast<double>(MonotonicNs() - begin_ns) / passes;
  if (std::this_thread::get_id() == other_.get_id()) other_ns_ = ns;
  finished_.fetch_add(1, std::memory_order_release);
  return ns;
}

void TwoThreads::Serve() {
  uint32_t seen = 0;
  for (;;) {
    round_.wait(seen);
    seen = round_.load();
    if (stop_.load()) return;
    RunOwnShare(passes_);
  }
}

}  // namespace jankbox::bench

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

double TwoThreads::NsAtOnce(uint32_t passes) {
  WakeOther(passes, true);
  MeetOther();
  const double own_ns = Timed(passes);
  finished_.wait(0);
  return (own_ns + other_ns_) / 2;
}

double TwoThreads::NsInTurn(uint32_t passes) {
  const double own_ns = Timed(passes);
  WakeOther(passes, false);
  finished_.wait(0);
  return (own_ns + other_ns_) / 2;
}

double TwoThreads::Timed(uint32_t passes) const {
  const uint64_t begin_ns = MonotonicNs();
  kernel_(passes);
  return static_cast<double>(MonotonicNs() - begin_ns) / passes;
}

// Both leave at the same moment, awake.
void TwoThreads::MeetOther() {
  arrived_.fetch_add(1);
  while (arrived_.load(std::memory_order_acquire) != 2) {
  }
}

void TwoThreads::WakeOther(uint32_t passes, bool at_once) {
  passes_ = passes;
  at_once_ = at_once;
  arrived_.store(0);
  finished_.store(0);
  round_.fetch_add(1);
  round_.notify_one();
}

void TwoThreads::Serve() {
  for (uint32_t seen = 0;;) {
    round_.wait(seen);
    seen = round_.load();
    if (stop_.load()) return;
    if (at_once_) MeetOther();
    other_ns_ = Timed(passes_);
    finished_.store(1);
    finished_.notify_one();
  }
}

}  // namespace jankbox::bench

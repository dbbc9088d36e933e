// A loop like a UI's: waits in poll() for a timer of 2 ms, then handles two messages, one after the
// other with a poll() between that returns at once, of 100 us and of 1 ms of computing. Prints the
// first tenth of the CPU times of each, with its wait, once a second.
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

#include "base/clock.h"
#include "bench/harness/opaque.h"

namespace jankbox::bench {
namespace {

// As often as takes `ns` now.
uint64_t Calibrate(uint64_t ns) {
  constexpr uint64_t kTrial = 1'000'000;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 20; ++i) {
    const uint64_t begin = ClockNs(CLOCK_THREAD_CPUTIME_ID);
    for (uint64_t pass = 0; pass < kTrial; ++pass) UnknownCode();
    least = std::min(least, ClockNs(CLOCK_THREAD_CPUTIME_ID) - begin);
  }
  return std::max<uint64_t>(kTrial * ns / least, 1);
}

// The first tenth: other programs on the same core disturb the rest.
double TakeTenth(std::vector<uint64_t>* times) {
  const auto tenth = times->begin() + static_cast<std::ptrdiff_t>(times->size() / 10);
  std::nth_element(times->begin(), tenth, times->end());
  const auto ns = static_cast<double>(*tenth);
  times->clear();
  return ns;
}

// From the wait before it to its end, of this thread's CPU.
JANKBOX_BENCH_KERNEL uint64_t WaitAndHandle(pollfd* timer, int timeout_ms, uint64_t passes) {
  const uint64_t begin = ClockNs(CLOCK_THREAD_CPUTIME_ID);
  poll(timer, 1, timeout_ms);
  for (uint64_t pass = 0; pass < passes; ++pass) UnknownCode();
  return ClockNs(CLOCK_THREAD_CPUTIME_ID) - begin;
}

void RunLoop() {
  const uint64_t short_passes = Calibrate(100'000), long_passes = Calibrate(1'000'000);
  pollfd timer{timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), POLLIN, 0};
  const itimerspec every_2_ms = {{0, 2'000'000}, {0, 2'000'000}};
  timerfd_settime(timer.fd, 0, &every_2_ms, nullptr);
  std::vector<uint64_t> short_ns, long_ns;
  for (uint64_t second = MonotonicNs() + kNsPerSecond;;) {
    short_ns.push_back(WaitAndHandle(&timer, -1, short_passes));
    long_ns.push_back(WaitAndHandle(&timer, 0, long_passes));
    uint64_t expired;
    if (read(timer.fd, &expired, sizeof(expired)) < 0) continue;
    if (MonotonicNs() < second) continue;
    printf("message_100us %.0f message_1ms %.0f\n", TakeTenth(&short_ns), TakeTenth(&long_ns));
    if (fflush(stdout) != 0) return;
    second = MonotonicNs() + kNsPerSecond;
  }
}

}  // namespace
}  // namespace jankbox::bench

int main() { jankbox::bench::RunLoop(); }

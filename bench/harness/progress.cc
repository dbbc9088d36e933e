#include "bench/harness/progress.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/clock.h"

namespace jankbox::bench {
namespace {

constexpr uint64_t kSilentNs = 2 * kNsPerSecond;
constexpr uint64_t kTerminalIntervalNs = kNsPerSecond / 4;
constexpr uint64_t kFileIntervalNs = 10 * kNsPerSecond;

}  // namespace

Progress::Progress(std::string label)
    : label_(std::move(label)), terminal_(isatty(STDERR_FILENO) == 1), began_ns_(MonotonicNs()) {}

Progress::~Progress() {
  if (drawn_ && terminal_) fprintf(stderr, "\r\033[K");
}

void Progress::Step(uint64_t done, uint64_t of) {
  const uint64_t now_ns = MonotonicNs();
  const uint64_t interval_ns = terminal_ ? kTerminalIntervalNs : kFileIntervalNs;
  if (now_ns - began_ns_ < kSilentNs || now_ns - last_ns_ < interval_ns) return;
  last_ns_ = now_ns;
  drawn_ = true;
  fprintf(stderr, terminal_ ? "\r\033[K%s: %llu of %llu" : "%s: %llu of %llu\n", label_.c_str(),
          static_cast<unsigned long long>(done), static_cast<unsigned long long>(of));
}

}  // namespace jankbox::bench

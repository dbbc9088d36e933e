// What sampling must not do to the program: end its waits early, or crash it while it loads and
// unloads libraries.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/scoped_fd.h"
#include "tests/tracer/sampling/sampled_thread.h"
#include "tracer/sampling/perf_source.h"

namespace jankbox {
namespace {

constexpr int kWaitMs = 20;
constexpr int kSeconds = 3;

struct Waits {
  int done = 0;
  int interrupted = 0;
  int early = 0;
};

timespec WaitTime() { return {0, kWaitMs * 1000000L}; }

int WaitInPoll() { return poll(nullptr, 0, kWaitMs); }

int WaitInNanosleep() {
  const timespec time = WaitTime();
  return nanosleep(&time, nullptr);
}

int WaitInFutex() {
  const timespec time = WaitTime();
  uint32_t word = 0;
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, nullptr, 0);
  return result < 0 && errno == ETIMEDOUT ? 0 : static_cast<int>(result);
}

int WaitInRead() {
  static const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec once{{}, WaitTime()};
  timerfd_settime(timer, 0, &once, nullptr);
  uint64_t expirations = 0;
  return read(timer, &expirations, sizeof(expirations)) < 0 ? -1 : 0;
}

void WaitOnce(int (*wait)(), Waits* waits) {
  const uint64_t start = MonotonicNs();
  errno = 0;
  if (wait() < 0) ++waits->interrupted;
  if (MonotonicNs() - start < (kWaitMs - 1) * kNsPerMs) ++waits->early;
  ++waits->done;
}

TEST(SamplingDisturbance, WaitsAreNotInterrupted) {
  Waits waits;
  {
    SampledThread thread([&waits](const std::atomic<bool>& stop) {
      while (!stop) {
        for (auto* wait : {WaitInPoll, WaitInNanosleep, WaitInFutex, WaitInRead}) {
          WaitOnce(wait, &waits);
          // Running in between, so that both ways of looking are used.
          for (const uint64_t end = MonotonicNs() + 7 * kNsPerMs; MonotonicNs() < end;) {
          }
        }
      }
    });
    StackSampler::Options options;
    options.interval_ms = 1;
    auto sampler = StackSampler::Create(thread.tid(), options);
    ASSERT_TRUE(sampler.ok());
    if (!PerfSource::Open(thread.tid()).ok()) {
      GTEST_SKIP() << "perf_event_open is refused: signals would interrupt waits";
    }
    const auto samples = CollectTimes(sampler.value().get(), kSeconds * 1000, 1);
    EXPECT_GT(samples.size(), 50u);  // a busy machine takes fewer
    EXPECT_EQ(sampler.value()->SourcesUsed(), "perf+proc");
  }
  EXPECT_GT(waits.done, 30);
  EXPECT_EQ(waits.interrupted, 0);
  EXPECT_EQ(waits.early, 0);
}

class LibraryStorm : public testing::TestWithParam<StackSampler::Mode> {};

// The sampled thread runs inside a library that comes and goes while stacks are unwound.
TEST_P(LibraryStorm, SamplingSurvives) {
  std::atomic<int> loads{0};
  SampledThread thread([&loads](const std::atomic<bool>& stop) {
    while (!stop) {
      void* library = dlopen(JANKBOX_STORM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
      ASSERT_NE(library, nullptr) << dlerror();
      auto* spin = reinterpret_cast<void (*)(int)>(dlsym(library, "StormOuter"));
      spin(200'000);
      dlclose(library);
      ++loads;
    }
  });
  StackSampler::Options options;
  options.interval_ms = 1;
  options.mode = GetParam();
  auto sampler = StackSampler::Create(thread.tid(), options);
  ASSERT_TRUE(sampler.ok());
  auto samples = CollectTimes(sampler.value().get(), 1500, 1);
  while (samples.size() <= 100 || loads <= 100) {
    for (auto& sample : CollectTimes(sampler.value().get(), 500, 1)) samples.push_back(sample);
  }
  size_t uncertain = 0;
  for (const StackSample& sample : samples) uncertain += sample.uncertain;
  EXPECT_GT(uncertain, 0u);
}

INSTANTIATE_TEST_SUITE_P(Modes, LibraryStorm,
                         testing::Values(StackSampler::Mode::kAuto,
                                         StackSampler::Mode::kSignalOnly));

}  // namespace
}  // namespace jankbox

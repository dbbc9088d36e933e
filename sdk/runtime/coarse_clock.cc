#include "sdk/runtime/coarse_clock.h"

#include <sys/prctl.h>

#include "base/clock.h"
#include "base/own_thread.h"
#include "tracer/ring/recorder.h"

namespace jankbox {
namespace {

// Less than the millisecond that the mode promises, for the time that a wake-up takes.
constexpr long kPeriodNs = 850'000;

}  // namespace

bool CoarseClock::Start() {
  if (thread_.running()) return true;
  stop_.store(false, std::memory_order_relaxed);
  Recorder::StartCoarseTick();
  return thread_.Start([this] { Run(); });
}

void CoarseClock::Stop() {
  if (!thread_.running()) return;
  stop_.store(true, std::memory_order_relaxed);
  thread_.Join(UINT64_MAX);
  cpu_before_ns_ += cpu_ns_.exchange(0, std::memory_order_relaxed);
}

uint64_t CoarseClock::cpu_ns() const {
  return cpu_before_ns_ + cpu_ns_.load(std::memory_order_relaxed);
}

void CoarseClock::Run() {
  NameCurrentThread("jankbox-tick");
  prctl(PR_SET_TIMERSLACK, 1);  // the kernel's 50 µs would be a part of the error
  const timespec period = {0, kPeriodNs};
  while (!stop_.load(std::memory_order_relaxed)) {
    nanosleep(&period, nullptr);
    Recorder::RenewCoarseTick();
    cpu_ns_.store(ClockNs(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
  }
}

}  // namespace jankbox

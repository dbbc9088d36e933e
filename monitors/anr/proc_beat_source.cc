#include "monitors/anr/proc_beat_source.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/own_thread.h"
#include "monitors/anr/tracer_pid.h"

namespace jankbox {
namespace {

constexpr uint64_t kLongReadNs = 10 * kNsPerMs;

}  // namespace

ProcBeatSource::ProcBeatSource(ReadSleeper read_sleeper) : read_sleeper_(std::move(read_sleeper)) {
  const std::string path = "/proc/self/task/" + std::to_string(CurrentTid()) + "/schedstat";
  schedstat_ = ScopedFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

BeatReading ProcBeatSource::ReadOnce() {
  BeatReading reading;
  char text[96];
  const ssize_t n = schedstat_.valid() ? pread(schedstat_.get(), text, sizeof(text) - 1, 0) : -1;
  if (n > 0) {
    text[n] = '\0';
    reading.sched_known =
        sscanf(text, "%" SCNu64 " %" SCNu64, &reading.run_ns, &reading.runnable_ns) == 2;
  }
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) == 0) {
    reading.voluntary = static_cast<uint64_t>(usage.ru_nvcsw);
  }
  if (read_sleeper_) reading.sleeper = read_sleeper_();
  reading.process_cpu_ns = ClockNs(CLOCK_PROCESS_CPUTIME_ID);
  reading.boottime_ns = BoottimeNs();
  reading.monotonic_ns = MonotonicNs();
  return reading;
}

// Again if the thread was stopped in between: its counters and clocks would not belong together.
BeatReading ProcBeatSource::Read() {
  for (;;) {
    const uint64_t before_ns = MonotonicNs();
    const BeatReading reading = ReadOnce();
    if (reading.monotonic_ns - before_ns <= kLongReadNs) return reading;
  }
}

bool ProcBeatSource::Traced() { return TracerPidOf(CurrentTid()) != 0; }

}  // namespace jankbox

// The cost of a message of a watched loop, its start and its end: by the explicit calls, named and
// not, and as a poll() that is a loop's own wait and so the end of one dispatch and the start of
// the next. Interleaved in one process with two reads of the clock, and with the same poll()
// unhooked.
#include <dlfcn.h>
#include <poll.h>
#include <time.h>

#include <CLI/CLI.hpp>
#include <stdexcept>

#include "bench/harness/bench_main.h"
#include "bench/harness/opaque.h"
#include "bench/harness/progress.h"
#include "bench/harness/recording.h"
#include "bench/harness/rounds.h"
#include "bench/harness/temporary_folder.h"
#include "monitors/looper/dispatch_monitor.h"
#include "monitors/looper/thread_wait.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kBatchUs = 200;
constexpr uint32_t kRingBytes = 64 << 20;

JANKBOX_BENCH_KERNEL void TwoClockReads(uint32_t passes) {
  timespec now;
  for (uint32_t i = 0; i < passes; ++i) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    UnknownCode();
    clock_gettime(CLOCK_MONOTONIC, &now);
    UnknownCode();
  }
}

JANKBOX_BENCH_KERNEL void Dispatches(const char* what, uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    jankbox_dispatch_begin(what, 0);
    UnknownCode();
    jankbox_dispatch_end();
    UnknownCode();
  }
}

// A wait that returns at once, from one place of one function, as a loop's.
JANKBOX_BENCH_KERNEL void Polls(int (*function)(pollfd*, nfds_t, int), uint32_t passes) {
  for (uint32_t i = 0; i < passes; ++i) {
    Use(static_cast<uint64_t>(function(nullptr, 0, 0)));
    UnknownCode();
  }
}

// The work of the SDK's hook of a loop library's poll() around the call
// (monitors/looper/loop_hooks_linux.cc).
constexpr DispatchCalls kCalls = {jankbox_dispatch_begin, jankbox_dispatch_end, [](const char*) {}};

JANKBOX_BENCH_KERNEL int WatchedPoll(pollfd* fds, nfds_t count, int timeout_ms) {
  ThreadWait wait(&kCalls, JANKBOX_POLL_CALL(fds, count, false));
  const int result = poll(fds, count, timeout_ms);
  wait.Done(&kCalls);
  return result;
}

Json Run(uint32_t count) {
  TemporaryFolder folder;
  const Recording recording(folder.path(), kRingBytes);
  Polls(WatchedPoll, 10);  // the loop is known
  if (WatchedLoops::Main().loop_name()[0] == '\0') throw std::runtime_error("poll is not watched");
  Rounds rounds;
  rounds.Add("2_clock_gettime", TwoClockReads);
  rounds.Add("dispatch", [](uint32_t n) { Dispatches("Handler: what=17", n); });
  rounds.Add("dispatch_long_name", [](uint32_t n) {
    Dispatches("android.view.Choreographer$FrameDisplayEventReceiver: 0", n);
  });
  rounds.Add("dispatch_unnamed", [](uint32_t n) { Dispatches(nullptr, n); });
  rounds.Add("poll", [](uint32_t n) { Polls(poll, n); });
  rounds.Add("watched_poll", [](uint32_t n) { Polls(WatchedPoll, n); });
  {
    Progress progress("dispatch_overhead");
    rounds.Run(count, kBatchUs, [&](uint32_t done) { progress.Step(done, count); });
  }
  Json ratios;
  ratios["dispatch_vs_2clock"] = Rounded(rounds.Ratio("dispatch", "2_clock_gettime"));
  ratios["dispatch_long_name_vs_2clock"] =
      Rounded(rounds.Ratio("dispatch_long_name", "2_clock_gettime"));
  ratios["dispatch_unnamed_vs_2clock"] =
      Rounded(rounds.Ratio("dispatch_unnamed", "2_clock_gettime"));
  ratios["watched_poll_vs_poll"] = Rounded(rounds.Ratio("watched_poll", "poll"));
  Json kernels;
  for (const KernelTiming& timing : rounds.Timings()) {
    kernels[timing.name] = {{"min_ns", Rounded(timing.min_ns)},
                            {"median_ns", Rounded(timing.median_ns)}};
  }
  Json results;
  results["ratios"] = std::move(ratios);
  results["ns"] = std::move(kernels);
  return results;
}

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  uint32_t rounds = 1000;
  return jankbox::bench::BenchMain(
      {.name = "dispatch_overhead",
       .question = "What a message of a watched loop costs, against two reads of the clock",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--rounds", rounds, "Rounds of one batch each")
                 ->check(CLI::Range(10, 100000))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::Run(rounds); }},
      argc, argv);
}

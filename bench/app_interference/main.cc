// The effect of Jankbox on an app's frames: the same frame with the SDK stopped, recording, and
// while a report is written, in batches that follow each other without a pause.
#include <linux/futex.h>
#include <sys/syscall.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

#include "bench/app_interference/frame_body.h"
#include "bench/app_interference/frame_times.h"
#include "bench/app_interference/snapshot_load.h"
#include "bench/harness/background_program.h"
#include "bench/harness/bench_main.h"
#include "bench/harness/child_program.h"
#include "bench/harness/progress.h"
#include "bench/harness/recording.h"
#include "bench/harness/rounds.h"
#include "bench/harness/syscall_names.h"
#include "bench/harness/temporary_folder.h"
#include "bench/harness/traced_child.h"
#include "bench/ring_write/kernels.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kBatchFrames = 100;
constexpr uint32_t kWarmUpFrames = 5;
constexpr uint32_t kTracedFrames = 100;
constexpr uint32_t kRingBytes = 8u << 20;  // the SDK's default

struct Options {
  uint32_t frames = 20'000;
  bool fsync_storm = false;
};

class AppInterference {
 public:
  explicit AppInterference(const Options& options) : options_(options) {}

  Json Run() {
    {
      Progress progress("app_interference");
      for (uint32_t cycle = 0; off_.count() < options_.frames; ++cycle) {
        RunCycle(cycle % 2 != 0);
        progress.Step(off_.count(), options_.frames);
      }
    }
    Json results;
    const double calls_us = CallsCostUs();
    AddRatios("_on_vs_off", on_, 0, off_, &results["ratios"]);
    AddRatios("_snapshot_vs_off", snapshot_, 0, off_, &results["ratios"]);
    AddRatios("_on_beyond_calls", on_, calls_us, off_, &results["ratios"]);
    AddRatios("_snapshot_beyond_calls", snapshot_, calls_us, off_, &results["ratios"]);
    results["calls_per_frame"] = kCallsPerFrame;
    results["calls_cost_us"] = Rounded(calls_us);
    results["snapshots_written"] = snapshots_written_;
    CountSyscalls(&results);
    results["frames"]["off"] = off_.ToJson();
    results["frames"]["on"] = on_.ToJson();
    results["frames"]["snapshot"] = snapshot_.ToJson();
    if (options_.fsync_storm) results["fsync_storm"] = RunStorm();
    return results;
  }

 private:
  void RunBatch(FrameTimes* times) {
    for (uint32_t i = 0; i < kWarmUpFrames; ++i) body_.Run();
    const uint32_t frames = std::min(kBatchFrames, options_.frames);
    for (uint32_t i = 0; i < frames; ++i) times->Add(body_.Run());
  }

  // A batch of each; every other time backwards, so that a drift of the machine favours none.
  void RunCycle(bool backwards) {
    if (!backwards) RunBatch(&off_);
    {
      const TemporaryFolder folder;  // new each time: reports do not pile up
      const Recording recording(folder.path(), kRingBytes);
      if (!backwards) RunBatch(&on_);
      {
        const SnapshotLoad load(&snapshots_written_);
        RunBatch(&snapshot_);
      }
      if (backwards) RunBatch(&on_);
    }
    if (backwards) RunBatch(&off_);
  }

  // The cost of only the recorded calls of a frame, in a loop.
  double CallsCostUs() const {
    const TemporaryFolder folder;
    const Recording recording(folder.path(), kRingBytes);
    Rounds rounds;
    rounds.Add("inline", InlinePairs);
    rounds.Run(300, 200, nullptr);
    return rounds.Timings()[0].median_ns * kCallsPerFrame / 1e3;
  }

  // In a child of its own: being traced would show in the times.
  void CountSyscalls(Json* results) const {
    TracedChild child({BenchPart("traced_frames"), std::to_string(kTracedFrames)});
    uint64_t waits = 0;
    Json by_name = Json::object();
    child.ListSyscalls([&](const TracedSyscall& call) {
      Json& count = by_name[SyscallName(call.number)];
      count = count.is_null() ? 1 : count.get<int>() + 1;
      const auto operation = call.arguments[1] & FUTEX_CMD_MASK;
      if (call.number == SYS_futex && operation != FUTEX_WAKE && operation != FUTEX_WAKE_BITSET &&
          operation != FUTEX_UNLOCK_PI && operation != FUTEX_WAKE_OP) {
        ++waits;
      }
    });
    child.Finish();
    (*results)["ui_thread_frames_traced"] = kTracedFrames;
    (*results)["ui_thread_futex_waits"] = waits;
    (*results)["ui_thread_syscalls"] = std::move(by_name);
  }

  Json RunStorm() const {
    const TemporaryFolder disk;
    const BackgroundProgram storm({BenchPart("fsync_storm"), disk.path()});
    const ChildResult child =
        RunProgram({BenchPart("storm_frames"), disk.path(), std::to_string(options_.frames / 4)});
    if (child.exit_status != 0) throw std::runtime_error("storm_frames: " + child.errors);
    return Json::parse(child.output);
  }

  const Options options_;
  FrameBody body_;
  FrameTimes off_, on_, snapshot_;
  uint64_t snapshots_written_ = 0;
};

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  jankbox::bench::Options options;
  return jankbox::bench::BenchMain(
      {.name = "app_interference",
       .question =
           "What an app's frames notice of Jankbox: recording, and while a report is written",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--frames", options.frames, "Frames of each kind, of four milliseconds")
                 ->check(CLI::Range(50, 10'000'000))
                 ->capture_default_str();
             app.add_flag("--fsync-storm", options.fsync_storm,
                          "Also with another process that syncs the disk without a pause");
           },
       .run = [&] { return jankbox::bench::AppInterference(options).Run(); }},
      argc, argv);
}

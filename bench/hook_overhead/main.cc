// The cost of a hooked write() for the app: one that is no marker, and a marker that is recorded,
// with and without the kernel writing it too. Interleaved in one process: a call through this
// program's own import table, which is hooked, against the same through the C library's address.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <stdexcept>

#include "base/scoped_fd.h"
#include "bench/harness/bench_main.h"
#include "bench/harness/opaque.h"
#include "bench/harness/progress.h"
#include "bench/harness/recording.h"
#include "bench/harness/rounds.h"
#include "bench/harness/temporary_folder.h"
#include "bench/harness/trace_marker.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kBatchUs = 200;
constexpr uint32_t kRingBytes = 64 << 20;
constexpr const char* kProbe = "B|1|hook_overhead probe";

// Through the import table, each time: that is what is hooked.
ssize_t ImportedWrite(int fd, const void* data, size_t bytes) { return write(fd, data, bytes); }

class HookOverhead {
 public:
  explicit HookOverhead(uint32_t rounds)
      : rounds_(rounds), null_(open("/dev/null", O_WRONLY | O_CLOEXEC)) {}

  Json Run() {
    {
      const Recording recording(folder_.path(), kRingBytes, JANKBOX_RECORD_EXACT,
                                JANKBOX_MARKERS_PASS_ON);
      MeasurePassedOn();
    }
    {
      const Recording recording(folder_.path(), kRingBytes, JANKBOX_RECORD_EXACT,
                                JANKBOX_MARKERS_KEEP);
      MeasureKept();
    }
    Json results;
    results["ratios"] = std::move(ratios_);
    results["ns"] = std::move(kernels_);
    return results;
  }

 private:
  JANKBOX_BENCH_KERNEL void WriteNull(TraceMarker::Write* function, uint32_t passes) {
    const char byte = 'x';
    for (uint32_t i = 0; i < passes; ++i) {
      Use(static_cast<uint64_t>(function(null_.get(), &byte, 1)));
      UnknownCode();
    }
  }

  void MeasurePassedOn() {
    ImportedWrite(marker_.fd(), kProbe, strlen(kProbe));
    if (!marker_.Holds(kProbe)) throw std::runtime_error("the kernel did not get its marker");
    Rounds rounds;
    rounds.Add("bare_write", [this](uint32_t n) { WriteNull(TraceMarker::bare_write(), n); });
    rounds.Add("hooked_write", [this](uint32_t n) { WriteNull(ImportedWrite, n); });
    rounds.Add("kernel_pair", [this](uint32_t n) { marker_.Pairs(n); });
    rounds.Add("passed_on_pair", [this](uint32_t n) { marker_.PairsThrough(ImportedWrite, n); });
    RunRounds("passed on", &rounds);
    Ratio(rounds, "hooked_write_vs_bare", "hooked_write", "bare_write");
    Ratio(rounds, "passed_on_vs_kernel", "passed_on_pair", "kernel_pair");
  }

  void MeasureKept() {
    const std::string kept = std::string(kProbe) + " kept";
    ImportedWrite(marker_.fd(), kept.data(), kept.size());
    if (marker_.Holds(kept)) throw std::runtime_error("write() is not hooked");
    Rounds rounds;
    rounds.Add("kernel_pair", [this](uint32_t n) { marker_.Pairs(n); });
    rounds.Add("kept_pair", [this](uint32_t n) { marker_.PairsThrough(ImportedWrite, n); });
    RunRounds("kept", &rounds);
    Ratio(rounds, "kernel_vs_kept", "kernel_pair", "kept_pair");
  }

  void RunRounds(const std::string& label, Rounds* rounds) {
    {
      Progress progress("hook_overhead, " + label);
      rounds->Run(rounds_, kBatchUs, [&](uint32_t done) { progress.Step(done, rounds_); });
    }
    for (const KernelTiming& timing : rounds->Timings()) {
      kernels_[timing.name] = {{"min_ns", Rounded(timing.min_ns)},
                               {"median_ns", Rounded(timing.median_ns)}};
    }
  }

  void Ratio(const Rounds& rounds, const std::string& key, const std::string& kernel,
             const std::string& by) {
    ratios_[key] = Rounded(rounds.Ratio(kernel, by));
  }

  const uint32_t rounds_;
  const ScopedFd null_;
  TemporaryFolder folder_;
  TraceMarker marker_;
  Json ratios_ = Json::object();
  Json kernels_ = Json::object();
};

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  uint32_t rounds = 1000;
  return jankbox::bench::BenchMain(
      {.name = "hook_overhead",
       .question = "What a hooked write() costs, and a marker that is recorded, against one that "
                   "the kernel writes",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--rounds", rounds, "Rounds of one batch each")
                 ->check(CLI::Range(10, 100000))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::HookOverhead(rounds).Run(); }},
      argc, argv);
}

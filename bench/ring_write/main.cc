// The cost of recording one method call: a begin and an end event, against the machine's limits and
// against peers, all in this process but for XRay and the clock_gettime fallback, which bring their
// own reference.
#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "bench/harness/bench_main.h"
#include "bench/harness/child_program.h"
#include "bench/harness/progress.h"
#include "bench/harness/recording.h"
#include "bench/harness/rounds.h"
#include "bench/harness/temporary_folder.h"
#include "bench/harness/trace_marker.h"
#include "bench/ring_write/kernels.h"
#include "bench/ring_write/lttng_session.h"
#include "bench/ring_write/matrix_design.h"
#include "bench/ring_write/two_threads.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kBatchUs = 200;
constexpr uint32_t kRingBytes = 16u << 20;

class RingWrite {
 public:
  explicit RingWrite(uint32_t rounds) : rounds_(rounds) {}

  Json Run() {
    Peer("trace_marker_vs_ours", [this] { trace_marker_ = std::make_unique<TraceMarker>(); });
    Peer("lttng_vs_ours", [this] { lttng_ = std::make_unique<LttngSession>(folder_.path()); });
    matrix_.emplace();
    {
      const Recording recording(folder_.path() + "/reports", kRingBytes);
      MeasureOn();
    }
    {
      const Recording recording(folder_.path() + "/reports", kRingBytes, JANKBOX_RECORD_COARSE);
      MeasureCoarse();
    }
    MeasureOff();
    Peer("fallback_vs_2clock", [this] { MeasureFallback(); });
    Peer("xray_vs_ours", [this] { MeasureXray(); });
    Json results;
    results["rounds"] = rounds_;
    results["ratios"] = std::move(ratios_);
    results["kernels"] = std::move(kernels_);
    results["unavailable"] = std::move(unavailable_);
    return results;
  }

 private:
  // `set_up` throws if the peer cannot be had: `ratio` is then left out and the reason reported.
  template <typename SetUp>
  void Peer(const std::string& ratio, SetUp set_up) {
    try {
      set_up();
    } catch (const std::exception& error) {
      unavailable_[ratio] = error.what();
    }
  }

  void MeasureOn() {
    TwoThreads two_threads(InlinePairs);
    Rounds rounds;
    rounds.Add("2rdtsc", RdtscPairs);
    rounds.Add("2clock", ClockGettimePairs);
    rounds.Add("floor", FloorPairs);
    rounds.Add("inline", InlinePairs);
    rounds.Add("so", LibraryPairs);
    rounds.AddMeasured("two_threads", [&](uint32_t n) { return two_threads.NsAtOnce(n); });
    rounds.AddMeasured("two_in_turn", [&](uint32_t n) { return two_threads.NsInTurn(n); });
    rounds.Add("instrument_empty", JankboxBenchEmptyHooksPairs);
    rounds.Add("instrument_ours", JankboxBenchOurHooksPairs);
    rounds.Add("matrix", [this](uint32_t n) { matrix_->Pairs(n); });
    rounds.Add("btrace2", Btrace2Pairs);
    if (lttng_) rounds.Add("lttng", [this](uint32_t n) { lttng_->Pairs(n); });
    if (trace_marker_) rounds.Add("trace_marker", [this](uint32_t n) { trace_marker_->Pairs(n); });
    RunRounds("recording on", &rounds);
    Ratio(rounds, "inline_vs_2rdtsc", "inline", "2rdtsc");
    Ratio(rounds, "inline_vs_2clock", "inline", "2clock");
    Ratio(rounds, "inline_vs_floor", "inline", "floor");
    Ratio(rounds, "so_vs_2clock", "so", "2clock");
    Ratio(rounds, "two_threads_vs_one", "two_threads", "two_in_turn");
    Ratio(rounds, "instrument_empty_vs_2rdtsc", "instrument_empty", "2rdtsc");
    Ratio(rounds, "instrument_ours_vs_2rdtsc", "instrument_ours", "2rdtsc");
    for (const char* peer : {"btrace2", "lttng", "matrix", "trace_marker"}) {
      Ratio(rounds, std::string(peer) + "_vs_ours", peer, "inline");
    }
  }

  // Events with a shared tick, as the governor records if exact ones cost too much.
  void MeasureCoarse() {
    Rounds rounds;
    rounds.Add("2rdtsc", RdtscPairs);
    rounds.Add("coarse", InlinePairs);
    RunRounds("coarse", &rounds);
    Ratio(rounds, "coarse_vs_2rdtsc", "coarse", "2rdtsc");
  }

  void MeasureOff() {
    Rounds rounds;
    rounds.Add("2rdtsc", RdtscPairs);
    rounds.Add("off", InlinePairs);
    rounds.Add("off_so", LibraryPairs);
    RunRounds("recording off", &rounds);
    Ratio(rounds, "off_vs_2rdtsc", "off", "2rdtsc");
    Ratio(rounds, "off_so_vs_2rdtsc", "off_so", "2rdtsc");
  }

  void MeasureFallback() {
    const Json part = RunPart("fallback_pairs");
    kernels_["fallback"] = {{"min_ns", part["min_ns"]}, {"median_ns", part["median_ns"]}};
    ratios_["fallback_vs_2clock"] = part["vs_2clock"];
  }

  // XRay's ratio to two reads of the counter, divided by Jankbox's.
  void MeasureXray() {
    const Json part = RunPart("xray_pairs");
    kernels_["xray"] = {{"min_ns", part["min_ns"]}, {"median_ns", part["median_ns"]}};
    ratios_["xray_vs_ours"] =
        Rounded(part["vs_2rdtsc"].get<double>() / ratios_["inline_vs_2rdtsc"].get<double>());
  }

  Json RunPart(const std::string& name) const {
    const ChildResult child = RunProgram({BenchPart(name), std::to_string(rounds_)});
    if (child.exit_status == 127) throw std::runtime_error("not built: its compiler is not here");
    if (child.exit_status != 0) {
      throw std::runtime_error(child.errors.substr(0, child.errors.find('\n')));
    }
    return Json::parse(child.output);
  }

  void RunRounds(const std::string& label, Rounds* rounds) {
    {
      Progress progress("ring_write, " + label);
      rounds->Run(rounds_, kBatchUs, [&](uint32_t done) { progress.Step(done, rounds_); });
    }
    for (const KernelTiming& timing : rounds->Timings()) {
      if (kernels_.contains(timing.name)) continue;  // the reference of a later phase
      kernels_[timing.name] = {{"min_ns", Rounded(timing.min_ns)},
                               {"median_ns", Rounded(timing.median_ns)}};
    }
  }

  void Ratio(const Rounds& rounds, const std::string& key, const std::string& kernel,
             const std::string& by) {
    if (rounds.Has(kernel)) ratios_[key] = Rounded(rounds.Ratio(kernel, by));
  }

  const uint32_t rounds_;
  TemporaryFolder folder_;
  std::unique_ptr<TraceMarker> trace_marker_;
  std::unique_ptr<LttngSession> lttng_;
  std::optional<MatrixDesign> matrix_;
  Json ratios_ = Json::object();
  Json kernels_ = Json::object();
  Json unavailable_ = Json::object();
};

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  uint32_t rounds = 1000;
  return jankbox::bench::BenchMain(
      {.name = "ring_write",
       .question = "What recording a method's begin and end costs, against two reads of the clock "
                   "and against peers",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--rounds", rounds, "Rounds of one batch each")
                 ->check(CLI::Range(10, 100000))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::RingWrite(rounds).Run(); }},
      argc, argv);
}

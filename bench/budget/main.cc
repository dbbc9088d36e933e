// What Jankbox uses of a core while its program janks all the time: its threads by schedstat, over
// the worst minute after the burst, beside what its own report says; and what a flood of recorded
// calls costs the app's threads.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/background_program.h"
#include "bench/harness/bench_main.h"
#include "bench/harness/child_program.h"
#include "bench/harness/progress.h"
#include "bench/harness/temporary_folder.h"
#include "bench/harness/thread_use.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kBurstS = 10;
constexpr uint32_t kWindowS = 60;

struct Options {
  uint32_t seconds = 120;
  uint32_t pairs = 5;
  std::vector<std::string> only;
};

struct Row {
  std::string name;
  std::string load;
  bool ftrace = false;
  bool agent = false;
};

const Row kRows[] = {{"6 s of work every 10 s", "stall", false},
                     {"6 s of work every 10 s, ftrace", "stall", true},
                     {"30 ms messages at a threshold of 10 ms", "jank", false},
                     {"30 ms messages at a threshold of 10 ms, ftrace", "jank", true},
                     {"0.8 s of work each second", "work", false},
                     {"0.8 s of work each second, ftrace", "work", true},
                     {"150 of 300 ms, under jankbox run", "half", false, true},
                     {"150 of 300 ms, under jankbox run, ftrace", "half", true, true}};

std::vector<std::string> CommandOf(const Row& row, const std::string& folder, uint32_t seconds) {
  const std::string ftrace = row.ftrace ? "on" : "off";
  const std::vector<std::string> load = {
      BenchPart("budget_load"),    row.agent ? "-" : folder, row.load, ftrace, "governed",
      std::to_string(seconds + 60)};
  if (!row.agent) return load;
  std::vector<std::string> run = {
      "env", "JANKBOX_OPTIONS=ftrace=" + ftrace, BuiltProgram("jankbox"), "run", "--dir", folder,
      "--"};
  run.insert(run.end(), load.begin(), load.end());
  return run;
}

// The largest growth in any kWindowS after the burst, as a share of a core in percent.
double WorstPercent(const std::vector<uint64_t>& run_ns) {
  double worst = 0;
  const size_t window = std::min<size_t>(kWindowS, run_ns.size() - 1 - kBurstS);
  for (size_t end = kBurstS + window; end < run_ns.size(); ++end) {
    const uint64_t grown = run_ns[end] - run_ns[end - window];
    worst = std::max(worst, static_cast<double>(grown) / 1e7 / static_cast<double>(window));
  }
  return worst;
}

// What the report of the end says, in nanoseconds of CPU time; 0: there is none.
uint64_t OwnFigureNs(const std::string& folder) {
  const ChildResult listed = RunProgram({BuiltProgram("jankbox"), "list", "--json", folder});
  const Json reports = Json::parse(listed.output, nullptr, false);
  if (!reports.is_array()) return 0;
  for (const Json& report : reports) {
    if (report.value("kind", "") != "manual") continue;
    return static_cast<uint64_t>(report["self_cost"].value("cpu_ms", 0.0) * 1e6);
  }
  return 0;
}

Json RunRow(const Row& row, uint32_t seconds) {
  const TemporaryFolder folder;
  BackgroundProgram program(CommandOf(row, folder.path(), seconds));
  Progress progress("budget: " + row.name);
  std::vector<uint64_t> run_ns = {0};  // threads that have ended stay in it
  uint64_t living_ns = 0;
  for (uint32_t second = 0; second < seconds; ++second) {
    sleep(1);
    const uint64_t now_ns = ThreadUseOf(program.pid()).jankbox.run_ns;
    run_ns.push_back(run_ns.back() + (now_ns - std::min(now_ns, living_ns)));
    living_ns = now_ns;
    progress.Step(second + 1, seconds);
  }
  Json result = {{"worst_minute_percent", Rounded(WorstPercent(run_ns))},
                 {"burst_ms", Rounded(static_cast<double>(run_ns[kBurstS]) / 1e6)}};
  const double all_ms = static_cast<double>(run_ns.back()) / 1e6;
  result["all_ms"] = Rounded(all_ms);
  if (row.agent) return result;
  kill(program.pid(), SIGTERM);
  for (int i = 0; i < 100 && program.Running(); ++i) usleep(100'000);
  result["says_ms"] = Rounded(static_cast<double>(OwnFigureNs(folder.path())) / 1e6);
  return result;
}

double FloodSeconds(const std::string& record) {
  const TemporaryFolder folder;
  const ChildResult result =
      RunProgram({BenchPart("budget_load"), folder.path(), "flood", "off", record, "20"});
  return strtod(result.output.c_str(), nullptr);
}

// CPU time of the whole program, for the same number of calls.
Json RunFlood(uint32_t pairs) {
  std::vector<double> more;
  Progress progress("budget: flood");
  for (uint32_t i = 0; i < pairs; ++i) {
    const double governed = FloodSeconds("governed");
    more.push_back((governed - FloodSeconds("off")) / 20 * 100);
    progress.Step(i + 1, pairs);
  }
  std::sort(more.begin(), more.end());
  return {{"governed_over_off_percent", Rounded(more[more.size() / 2])},
          {"least", Rounded(more.front())},
          {"most", Rounded(more.back())},
          {"pairs", pairs}};
}

Json Run(const Options& options) {
  const auto wanted = [&](const std::string& load) {
    return options.only.empty() ||
           std::find(options.only.begin(), options.only.end(), load) != options.only.end();
  };
  Json results;
  results["seconds"] = options.seconds;
  Json by_load = Json::object();
  for (const Row& row : kRows) {
    if (wanted(row.load)) by_load[row.name] = RunRow(row, options.seconds);
  }
  if (!by_load.empty()) results["by_load"] = std::move(by_load);
  if (wanted("flood")) results["flood"] = RunFlood(options.pairs);
  return results;
}

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  jankbox::bench::Options options;
  return jankbox::bench::BenchMain(
      {.name = "budget",
       .question = "What Jankbox uses of a core while its program janks all the time",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--seconds", options.seconds,
                            "How long each load runs, a burst of 10 s included")
                 ->check(CLI::Range(11, 3600))
                 ->capture_default_str();
             app.add_option("--pairs", options.pairs, "Pairs of runs of the flood")
                 ->check(CLI::Range(1, 100))
                 ->capture_default_str();
             app.add_option("--only", options.only,
                            "Only these loads: stall, jank, work, half, flood");
           },
       .run = [&] { return jankbox::bench::Run(options); }},
      argc, argv);
}

// How long jankbox_start() delays its thread: jankbox_start in fresh processes, and the
// system calls that it makes there.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "bench/harness/bench_main.h"
#include "bench/harness/child_program.h"
#include "bench/harness/progress.h"
#include "bench/harness/rounds.h"
#include "bench/harness/syscall_names.h"
#include "bench/harness/temporary_folder.h"
#include "bench/harness/traced_child.h"

namespace jankbox::bench {
namespace {

struct StartTimes {
  std::vector<double> wall_us;
  std::vector<double> cpu_us;
};

StartTimes MeasureStarts(const std::string& folder, uint32_t processes) {
  StartTimes times;
  Progress progress("startup_cost");
  for (uint32_t i = 0; i < processes; ++i) {
    const ChildResult child = RunProgram({BenchPart("start_once"), folder});
    unsigned long long wall_ns = 0, cpu_ns = 0;
    if (child.exit_status != 0 ||
        sscanf(child.output.c_str(), "%llu %llu", &wall_ns, &cpu_ns) != 2) {
      throw std::runtime_error("start_once: " + child.errors);
    }
    times.wall_us.push_back(static_cast<double>(wall_ns) / 1e3);
    times.cpu_us.push_back(static_cast<double>(cpu_ns) / 1e3);
    progress.Step(i + 1, processes);
  }
  return times;
}

Json CountSyscalls(const std::string& folder, uint64_t* count) {
  TracedChild child({BenchPart("start_once"), folder, "--traced"});
  Json by_name = Json::object();
  child.ListSyscalls([&](const TracedSyscall& call) {
    ++*count;
    Json& calls = by_name[SyscallName(call.number)];
    calls = calls.is_null() ? 1 : calls.get<int>() + 1;
  });
  child.Finish();
  return by_name;
}

Json Run(uint32_t processes) {
  const TemporaryFolder folder;
  RunProgram({BenchPart("start_once"), folder.path()});  // files into the page cache
  const StartTimes times = MeasureStarts(folder.path(), processes);
  Json results;
  results["processes"] = processes;
  results["start_min_us"] = Rounded(Quantile(times.wall_us, 0));
  results["start_median_us"] = Rounded(Median(times.wall_us));
  results["start_p99_us"] = Rounded(Quantile(times.wall_us, 0.99));
  results["start_cpu_median_us"] = Rounded(Median(times.cpu_us));
  uint64_t count = 0;
  Json by_name = CountSyscalls(folder.path(), &count);
  results["syscalls"] = count;
  results["syscalls_by_name"] = std::move(by_name);
  return results;
}

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  uint32_t processes = 200;
  return jankbox::bench::BenchMain(
      {.name = "startup_cost",
       .question = "How long jankbox_start holds up the thread that calls it, over fresh processes",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--processes", processes, "Fresh processes to start")
                 ->check(CLI::Range(1, 100000))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::Run(processes); }},
      argc, argv);
}

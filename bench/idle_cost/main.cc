// What Jankbox does while its program does nothing: how often its threads wake, and for how long
// they run, in programs that idle or tick, all at the same time. Beside them the program's own
// threads, and two watchdogs as other tools have them.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bench/harness/background_program.h"
#include "bench/harness/bench_main.h"
#include "bench/harness/child_program.h"
#include "bench/harness/progress.h"
#include "bench/harness/rounds.h"
#include "bench/harness/temporary_folder.h"
#include "bench/harness/thread_use.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kSettleS = 10;

struct Row {
  std::string name;
  std::vector<std::string> argv;
};

// A thread that has ended since `before` leaves no figures: its use is missing, never less than 0.
uint64_t Growth(uint64_t before, uint64_t after) { return after - std::min(before, after); }

double GrowthMs(uint64_t before_ns, uint64_t after_ns) {
  return Rounded(static_cast<double>(Growth(before_ns, after_ns)) / 1e6);
}

// An X server for the program with a window; null if there is one, or none is installed.
std::unique_ptr<BackgroundProgram> StartDisplay() {
  constexpr char kDisplay[] = ":719";
  if (getenv("DISPLAY") != nullptr) return nullptr;
  if (std::system("command -v Xvfb >/dev/null") != 0) return nullptr;
  auto server = std::make_unique<BackgroundProgram>(
      std::vector<std::string>{"Xvfb", kDisplay, "-screen", "0", "640x480x24", "-nolisten", "tcp"});
  setenv("DISPLAY", kDisplay, 1);
  sleep(1);
  return server;
}

std::vector<Row> RowsIn(const std::string& folder) {
  const std::string loop = BenchPart("idle_loop");
  const auto of = [&](const std::string& name) { return folder + "/" + name; };
  return {
      {"loop, in front", {loop, of("a"), "poll", "0", "front"}},
      {"loop, in the background", {loop, of("b"), "poll", "0", "back"}},
      {"loop, 1 Hz", {loop, of("c"), "poll", "1000", "front"}},
      {"loop, 60 Hz", {loop, of("d"), "poll", "16", "front"}},
      {"GTK, in front", {loop, of("e"), "gtk", "0", "front"}},
      {"GTK, in the background", {loop, of("f"), "gtk", "0", "back"}},
      {"GTK, 1 Hz", {loop, of("g"), "gtk", "1000", "front"}},
      {"Node.js server under jankbox run",
       {BuiltProgram("jankbox"), "run", "--dir", of("h"), "--", "node", "-e",
        "require('http').createServer().listen(0)"}},
      {"watchdog that posts every 500 ms", {loop, "post", "poll", "0", "front"}},
      {"watchdog that looks every 50 ms", {loop, "look", "poll", "0", "front"}},
  };
}

Json Run(uint32_t seconds) {
  const TemporaryFolder folder;
  const std::unique_ptr<BackgroundProgram> display = StartDisplay();
  std::vector<Row> rows = RowsIn(folder.path());
  std::vector<std::unique_ptr<BackgroundProgram>> programs;
  for (const Row& row : rows) programs.push_back(std::make_unique<BackgroundProgram>(row.argv));
  Progress progress("idle_cost");
  const auto wait = [&](uint32_t from, uint32_t to) {
    for (uint32_t second = from; second < to; ++second) {
      sleep(1);
      progress.Step(second + 1, seconds);
    }
  };
  wait(0, kSettleS);
  std::vector<ThreadUse> before(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) before[i] = ThreadUseOf(programs[i]->pid());
  wait(kSettleS, seconds);
  Json by_program = Json::object();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!programs[i]->Running()) {
      by_program[rows[i].name] = {{"jankbox_wakes", "it did not run"}};
      continue;
    }
    const ThreadUse after = ThreadUseOf(programs[i]->pid());
    by_program[rows[i].name] = {
        {"jankbox_wakes", Growth(before[i].jankbox.wakes, after.jankbox.wakes)},
        {"jankbox_run_ms", GrowthMs(before[i].jankbox.run_ns, after.jankbox.run_ns)},
        {"program_wakes", Growth(before[i].program.wakes, after.program.wakes)},
        {"program_run_ms", GrowthMs(before[i].program.run_ns, after.program.run_ns)}};
  }
  Json results;
  results["seconds"] = seconds - kSettleS;
  results["by_program"] = std::move(by_program);
  return results;
}

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  uint32_t seconds = 60;
  return jankbox::bench::BenchMain(
      {.name = "idle_cost",
       .question = "How often Jankbox's threads wake in programs that do nothing, and for how long",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--seconds", seconds, "How long, the first 10 s not counted")
                 ->check(CLI::Range(11, 3600))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::Run(seconds); }},
      argc, argv);
}

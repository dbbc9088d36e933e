// The loop model, replayed over the waits of real programs: it calls no idle wait a stall, and
// misses no planted one. docs/loops.md says how the waits were recorded.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "base/file.h"
#include "tests/monitors/looper/sequences/replay.h"

namespace jankbox {
namespace {

constexpr double kLeastFound = 0.98;

std::vector<RecordedRun> AllRuns() {
  std::vector<RecordedRun> runs;
  for (const char* screen : {"none", "tty", "wayland", "x11"}) {
    const std::string folder = JoinPath(RECORDED_WAITS, screen);
    Result<std::vector<std::string>> files = ListDirectory(folder);
    if (!files.ok()) ADD_FAILURE() << folder << ": " << files.status().message();
    for (size_t i = 0; files.ok() && i < files->size(); ++i) {
      const std::string& file = files.value()[i];
      Result<std::vector<RecordedRun>> found = ReadRecordedRuns(JoinPath(folder, file));
      if (!found.ok()) ADD_FAILURE() << file << ": " << found.status().message();
      if (found.ok()) runs.insert(runs.end(), found->begin(), found->end());
    }
  }
  return runs;
}

TEST(WaitSequences, IdleProgramsAreNotSlowAndPlantedStallsAreFound) {
  std::set<std::string> programs;
  Judgement all;
  printf("%-22s %-14s %7s %7s %10s  %-8s %s\n", "program", "run", "waits", "own", "dispatches",
         "loop", "stalls");
  for (const RecordedRun& run : AllRuns()) {
    const ReplayedRun replayed = Replay(run);
    const Judgement one = Judge(run, replayed);
    const auto waits = std::count_if(run.events.begin(), run.events.end(), [](const auto& event) {
      return event.kind == WaitRecord::kWait;
    });
    printf("%-22s %-14s %7td %7zu %10zu  %-8s %s\n", run.program.c_str(), run.name.c_str(), waits,
           replayed.own_waits, replayed.dispatches.size(), replayed.loop.c_str(),
           one.planted == 0           ? ""
           : one.found == one.planted ? "found"
                                      : "MISSED");
    programs.insert(run.program);
    all.planted += one.planted;
    all.found += one.found;
    for (const std::string& line : one.mistaken) ADD_FAILURE() << "false stall: " << line;
    for (const std::string& line : one.missed) printf("missed: %s\n", line.c_str());
  }
  printf("%zu programs, %zu of %zu stalls found\n", programs.size(), all.found, all.planted);
  EXPECT_GE(programs.size(), 30u);
  EXPECT_GE(static_cast<double>(all.found), kLeastFound * static_cast<double>(all.planted));
  EXPECT_GE(all.planted, 30u);
}

}  // namespace
}  // namespace jankbox

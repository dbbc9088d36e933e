#include "bench/harness/thread_use.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace jankbox::bench {
namespace {

std::string FirstLine(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

uint64_t VoluntarySwitches(const std::filesystem::path& task) {
  std::ifstream file(task / "status");
  for (std::string line; std::getline(file, line);) {
    unsigned long long count = 0;
    if (sscanf(line.c_str(), "voluntary_ctxt_switches: %llu", &count) == 1) return count;
  }
  return 0;
}

void AddUses(pid_t pid, ThreadUse* uses) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  std::error_code gone;
  for (const auto& task : std::filesystem::directory_iterator(tasks, gone)) {
    const std::string name = FirstLine(task.path() / "comm");
    Use* use =
        name.rfind("jankbox", 0) == 0 || name == "watchdog" ? &uses->jankbox : &uses->program;
    unsigned long long run_ns = 0;
    sscanf(FirstLine(task.path() / "schedstat").c_str(), "%llu", &run_ns);
    use->run_ns += run_ns;
    use->wakes += VoluntarySwitches(task.path());
    std::ifstream children(task.path() / "children");
    for (pid_t child; children >> child;) AddUses(child, uses);
  }
}

}  // namespace

ThreadUse ThreadUseOf(pid_t pid) {
  ThreadUse uses;
  AddUses(pid, &uses);
  return uses;
}

}  // namespace jankbox::bench

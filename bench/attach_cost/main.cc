// What `jankbox attach` costs: the time that a watched loop takes for a message, and that of system
// calls of a process that is not watched. Pairs without and with attach are interleaved, and so
// are pairs of the same kind, both without: what those differ by is the machine's own noise.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process_runner.h"
#include "bench/harness/bench_main.h"
#include "bench/harness/child_program.h"
#include "bench/harness/progress.h"
#include "bench/harness/rounds.h"
#include "bench/harness/temporary_folder.h"

namespace jankbox::bench {
namespace {

// The two programs: each prints a line of times a second, "name ns name ns …".
class MeasuredProgram {
 public:
  explicit MeasuredProgram(const std::string& part) {
    const int error =
        process_.Start({.argv = {BenchPart(part)}, .out = ChildStream::kPiped, .detached = true});
    if (error != 0) throw std::runtime_error("cannot start " + part);
    lines_ = fdopen(dup(process_.out().get()), "r");
  }
  ~MeasuredProgram() {
    fclose(lines_);
    process_.Kill();
  }
  MeasuredProgram(const MeasuredProgram&) = delete;
  MeasuredProgram& operator=(const MeasuredProgram&) = delete;

  pid_t pid() const { return process_.pid(); }

  // Of the first second that begins after the call.
  std::map<std::string, double> Next() {
    // What it wrote meanwhile is from before.
    while (HasLine()) ReadLine();
    ReadLine();
    return ReadLine();
  }

 private:
  bool HasLine() {
    pollfd ready{fileno(lines_), POLLIN, 0};
    return poll(&ready, 1, 0) == 1;
  }
  std::map<std::string, double> ReadLine() {
    char line[512];
    if (fgets(line, sizeof(line), lines_) == nullptr) throw std::runtime_error("it has ended");
    std::map<std::string, double> times;
    char name[64];
    double ns = 0;
    int used = 0;
    for (const char* at = line; sscanf(at, "%63s %lf%n", name, &ns, &used) == 2; at += used) {
      times[name] = ns;
    }
    return times;
  }

  ChildProcess process_;
  FILE* lines_ = nullptr;
};

// `jankbox attach` on a process, until it goes.
class Attached {
 public:
  Attached(pid_t pid, const std::string& folder) {
    const int error = process_.Start(
        {.argv = {BuiltProgram("jankbox"), "attach", "--dir", folder, std::to_string(pid)},
         .err = ChildStream::kPiped,
         .detached = true});
    if (error != 0) throw std::runtime_error("cannot start jankbox");
    std::string said;
    char piece[512];
    while (said.find("watching main") == std::string::npos) {
      const ssize_t size = read(process_.err().get(), piece, sizeof(piece));
      if (size <= 0) throw std::runtime_error("jankbox attach: " + said);
      said.append(piece, static_cast<size_t>(size));
    }
  }
  ~Attached() {
    process_.Signal(SIGINT);
    process_.Wait();
  }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  ChildProcess process_;
};

using Times = std::map<std::string, std::vector<double>>;  // by what was measured

void AddAll(const std::map<std::string, double>& from, Times* to) {
  for (const auto& [name, ns] : from) (*to)[name].push_back(ns);
}

// How much the second of each pair takes, by the first.
struct Pairs {
  Times first;
  Times second;

  Json Ratios() const {
    Json ratios = Json::object();
    for (const auto& [name, before] : first) {
      std::vector<double> by_pair;
      for (size_t i = 0; i < before.size(); ++i) by_pair.push_back(second.at(name)[i] / before[i]);
      ratios[name] = {{"median", Rounded(Median(by_pair))},
                      {"least", Rounded(Quantile(by_pair, 0))},
                      {"most", Rounded(Quantile(by_pair, 1))}};
    }
    return ratios;
  }
};

Json Run(uint32_t count) {
  const TemporaryFolder folder;
  MeasuredProgram loop("attach_loop");
  MeasuredProgram unrelated("attach_bystander");
  const auto measure = [&](Times* times) {
    AddAll(loop.Next(), times);
    AddAll(unrelated.Next(), times);
  };
  Pairs attached, same;
  {
    Progress progress("attach_cost");
    for (uint32_t i = 0; i < count; ++i) {
      measure(&same.first);
      measure(&same.second);
      measure(&attached.first);
      {
        const Attached watch(loop.pid(), folder.path());
        measure(&attached.second);
      }
      progress.Step(i + 1, count);
    }
  }
  Json ns = Json::object();
  for (const auto& [name, times] : attached.first) {
    ns[name] = {{"without", Rounded(Median(times))},
                {"with", Rounded(Median(attached.second.at(name)))}};
  }
  Json results;
  results["pairs"] = count;
  results["with_attach_by_without"] = attached.Ratios();
  results["without_by_without"] = same.Ratios();
  results["ns"] = std::move(ns);
  return results;
}

}  // namespace
}  // namespace jankbox::bench

int main(int argc, char** argv) {
  uint32_t pairs = 20;
  return jankbox::bench::BenchMain(
      {.name = "attach_cost",
       .question = "What jankbox attach costs the watched loop, and a process that is not watched",
       .add_options =
           [&](CLI::App& app) {
             app.add_option("--pairs", pairs, "Pairs of each kind")
                 ->check(CLI::Range(1, 1000))
                 ->capture_default_str();
           },
       .run = [&] { return jankbox::bench::Run(pairs); }},
      argc, argv);
}

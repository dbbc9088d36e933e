// The main() that all benches share: --json, --help, and the output. JSON is
// {"bench":NAME,"machine":{...},"results":{...}} on stdout and nothing else there; without --json
// the same as tables. No limit and no goal is ever printed: who judges knows them.
#ifndef JANKBOX_BENCH_HARNESS_BENCH_MAIN_H_
#define JANKBOX_BENCH_HARNESS_BENCH_MAIN_H_

#include <functional>
#include <string>

#include "bench/harness/machine.h"

namespace CLI {
class App;
}

namespace jankbox::bench {

struct Bench {
  std::string name;      // "ring_write"
  std::string question;  // what it answers, for --help
  std::function<void(CLI::App&)> add_options = nullptr;
  std::function<Json()> run;  // the results; throws std::exception if it cannot
};

// Exit status: 0, 1 if the bench failed, 2 for a wrong command line.
int BenchMain(const Bench& bench, int argc, char** argv);

// At most `digits` significant ones, so that no result pretends to more than it knows.
double Rounded(double value, int digits = 4);

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_BENCH_MAIN_H_

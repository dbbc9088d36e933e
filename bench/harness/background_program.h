// A program that runs beside a bench (a peer's daemon, a load) until the object goes: then it is
// asked to end and waited for. One thread.
#ifndef JANKBOX_BENCH_HARNESS_BACKGROUND_PROGRAM_H_
#define JANKBOX_BENCH_HARNESS_BACKGROUND_PROGRAM_H_

#include <string>
#include <vector>

#include "base/process_runner.h"

namespace jankbox::bench {

class BackgroundProgram {
 public:
  // Starts `argv[0]` (searched in PATH); its output goes nowhere. Throws if it cannot be started.
  explicit BackgroundProgram(const std::vector<std::string>& argv);
  ~BackgroundProgram();
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  pid_t pid() const { return process_.pid(); }
  bool Running() { return !process_.HasEnded(); }

 private:
  ChildProcess process_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_BACKGROUND_PROGRAM_H_

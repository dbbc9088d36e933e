// A program that runs beside a bench (a peer's daemon, a load) until the object goes: then it is
// asked to end and waited for. One thread.
#ifndef JANKBOX_BENCH_HARNESS_BACKGROUND_PROGRAM_H_
#define JANKBOX_BENCH_HARNESS_BACKGROUND_PROGRAM_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace jankbox::bench {

class BackgroundProgram {
 public:
  // Starts `argv[0]` (searched in PATH); its output goes nowhere. Throws if there is no process.
  explicit BackgroundProgram(const std::vector<std::string>& argv);
  ~BackgroundProgram();
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  bool Running();

 private:
  pid_t pid_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_BACKGROUND_PROGRAM_H_

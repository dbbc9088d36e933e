// A line on stderr about how far a bench is, once it has run for two seconds: drawn over itself on
// a terminal, every ten seconds elsewhere. Never inside a timed stretch. One thread.
#ifndef JANKBOX_BENCH_HARNESS_PROGRESS_H_
#define JANKBOX_BENCH_HARNESS_PROGRESS_H_

#include <cstdint>
#include <string>

namespace jankbox::bench {

class Progress {
 public:
  explicit Progress(std::string label);
  ~Progress();  // clears the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void Step(uint64_t done, uint64_t of);

 private:
  std::string label_;
  bool terminal_;
  bool drawn_ = false;
  uint64_t began_ns_;
  uint64_t last_ns_ = 0;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_PROGRESS_H_

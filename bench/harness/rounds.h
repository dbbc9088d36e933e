// Kernels timed against each other: in every round each kernel runs one short batch, so that what
// disturbs the machine disturbs all of them alike; a ratio is formed within each round and the
// median of the rounds' ratios is the result. Absolute times are for orientation. Runs on the
// calling thread.
#ifndef JANKBOX_BENCH_HARNESS_ROUNDS_H_
#define JANKBOX_BENCH_HARNESS_ROUNDS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace jankbox::bench {

// The middle of `values`; 0 if there are none. `Quantile` 0 to 1, nearest rank.
double Median(std::vector<double> values);
double Quantile(std::vector<double> values, double quantile);

struct KernelTiming {
  std::string name;
  double min_ns = 0;  // of one pass, that is one begin and end
  double median_ns = 0;
};

class Rounds {
 public:
  // `run(passes)` does the work that many times and is timed from outside.
  void Add(std::string name, std::function<void(uint32_t)> run);
  // `measure(passes)` times itself and returns the ns of one pass.
  void AddMeasured(std::string name, std::function<double(uint32_t)> measure);

  // As many rounds, with batches of about `batch_us` each. `step(done)` is called between rounds.
  void Run(uint32_t rounds, uint32_t batch_us, const std::function<void(uint32_t)>& step);
  // The same for kernels that take milliseconds: one pass a batch, and a first round not counted.
  void RunWhole(uint32_t rounds, const std::function<void(uint32_t)>& step);

  bool Has(std::string_view name) const;
  // Median over the rounds of one kernel's time by another's. REQUIRES that Run() was called and
  // both are there.
  double Ratio(std::string_view kernel, std::string_view by) const;
  std::vector<KernelTiming> Timings() const;

 private:
  struct Kernel {
    std::string name;
    std::function<double(uint32_t)> measure;
    uint32_t passes = 0;              // of a batch
    std::vector<double> ns_per_pass;  // by round
  };

  void Calibrate(Kernel* kernel, uint32_t batch_us) const;
  void RunRound(uint32_t round);
  const Kernel* Find(std::string_view name) const;

  std::vector<Kernel> kernels_;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_ROUNDS_H_

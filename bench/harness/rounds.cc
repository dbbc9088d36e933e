#include "bench/harness/rounds.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "base/clock.h"

namespace jankbox::bench {
namespace {

constexpr uint32_t kFirstPasses = 64;
constexpr uint32_t kMaxPasses = 1u << 20;
// A kernel's first passes after another one's find its lines and branches cold.
constexpr uint32_t kWarmUpShare = 8;

}  // namespace

double Quantile(std::vector<double> values, double quantile) {
  if (values.empty()) return 0;
  const double rank = std::ceil(quantile * static_cast<double>(values.size()));
  const size_t at = std::min(values.size() - 1, static_cast<size_t>(std::max(rank, 1.0)) - 1);
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(at), values.end());
  return values[at];
}

double Median(std::vector<double> values) { return Quantile(std::move(values), 0.5); }

void Rounds::Add(std::string name, std::function<void(uint32_t)> run) {
  AddMeasured(std::move(name), [run = std::move(run)](uint32_t passes) {
    const uint64_t begin_ns = MonotonicNs();
    run(passes);
    return static_cast<double>(MonotonicNs() - begin_ns) / passes;
  });
}

void Rounds::AddMeasured(std::string name, std::function<double(uint32_t)> measure) {
  kernels_.push_back({std::move(name), std::move(measure), 0, {}});
}

void Rounds::Calibrate(Kernel* kernel, uint32_t batch_us) const {
  uint32_t passes = kFirstPasses;
  double ns = kernel->measure(passes);
  while (ns * passes < 50e3 && passes < kMaxPasses) {
    passes *= 4;
    ns = kernel->measure(passes);
  }
  const double wanted = batch_us * 1e3 / std::max(ns, 0.01);
  kernel->passes = static_cast<uint32_t>(std::clamp(wanted, 8.0, double{kMaxPasses}));
}

void Rounds::Run(uint32_t rounds, uint32_t batch_us, const std::function<void(uint32_t)>& step) {
  for (Kernel& kernel : kernels_) Calibrate(&kernel, batch_us);
  for (uint32_t round = 0; round < rounds; ++round) {
    RunRound(round);
    if (step) step(round + 1);
  }
}

void Rounds::RunWhole(uint32_t rounds, const std::function<void(uint32_t)>& step) {
  for (Kernel& kernel : kernels_) {
    kernel.passes = 1;
    kernel.measure(1);
  }
  for (uint32_t round = 0; round < rounds; ++round) {
    RunRound(round);
    if (step) step(round + 1);
  }
}

// Another order each round: no kernel always follows in the same neighbour's wake.
void Rounds::RunRound(uint32_t round) {
  for (size_t i = 0; i < kernels_.size(); ++i) {
    Kernel& kernel = kernels_[(i + round) % kernels_.size()];
    if (kernel.passes > kWarmUpShare) kernel.measure(kernel.passes / kWarmUpShare);
    kernel.ns_per_pass.push_back(kernel.measure(kernel.passes));
  }
}

const Rounds::Kernel* Rounds::Find(std::string_view name) const {
  for (const Kernel& kernel : kernels_) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

bool Rounds::Has(std::string_view name) const { return Find(name) != nullptr; }

double Rounds::Ratio(std::string_view kernel, std::string_view by) const {
  const Kernel* a = Find(kernel);
  const Kernel* b = Find(by);
  if (a == nullptr || b == nullptr) throw std::logic_error("no such kernel");
  std::vector<double> ratios;
  for (size_t i = 0; i < a->ns_per_pass.size(); ++i) {
    ratios.push_back(a->ns_per_pass[i] / b->ns_per_pass[i]);
  }
  return Median(std::move(ratios));
}

std::vector<KernelTiming> Rounds::Timings() const {
  std::vector<KernelTiming> timings;
  for (const Kernel& kernel : kernels_) {
    const auto least = std::min_element(kernel.ns_per_pass.begin(), kernel.ns_per_pass.end());
    if (least == kernel.ns_per_pass.end()) continue;
    timings.push_back({kernel.name, *least, Median(kernel.ns_per_pass)});
  }
  return timings;
}

}  // namespace jankbox::bench

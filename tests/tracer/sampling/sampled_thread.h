// Threads with known call chains for the samplers to look at. Each fixture's functions are
// `noinline` and exported, so that an unwound stack can be checked by name against the chain.
#ifndef JANKBOX_TESTS_TRACER_SAMPLING_SAMPLED_THREAD_H_
#define JANKBOX_TESTS_TRACER_SAMPLING_SAMPLED_THREAD_H_

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tracer/sampling/stack_sampler.h"

namespace jankbox {

// Runs `body` on a thread of its own; joined on destruction. `body` gets a flag that turns true
// when it should return.
class SampledThread {
 public:
  using Body = std::function<void(const std::atomic<bool>& stop)>;

  explicit SampledThread(Body body);
  ~SampledThread();

  int tid() const { return tid_; }
  void RequestStop() { stop_ = true; }

 private:
  std::atomic<int> tid_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// Until the thread's state letter is `state`; false after ten seconds.
bool WaitForState(int tid, char state);

// The samples of `count` Collect calls at the sampler's interval.
std::vector<StackSample> CollectTimes(StackSampler* sampler, int count, int interval_ms = 5);

// Collects at the sampler's interval until `count` samples of `source` came, or for twenty seconds:
// a machine with other work may let the thread run now and then only.
std::vector<StackSample> CollectFrom(StackSampler* sampler, SampleSource source, size_t count);

// CPU time that a thread has used, as the scheduler counts it.
uint64_t CpuTimeNs(int tid);

// Function names of a sample's frames, innermost first, without arguments; "" if not known.
std::vector<std::string> NamesOf(const ModuleMap& modules, const StackSample& sample);
std::vector<std::string> NamesOf(const StackSampler& sampler, const StackSample& sample);

// True if `names` occur in `stack` in this order, others between them.
bool IsOrderedSubsequence(const std::vector<std::string>& names,
                          const std::vector<std::string>& stack);

std::string Join(const std::vector<std::string>& names);

}  // namespace jankbox

#endif  // JANKBOX_TESTS_TRACER_SAMPLING_SAMPLED_THREAD_H_

#include "tests/tracer/sampling/sampled_thread.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "base/own_thread.h"
#include "diagnosis/symbols/symbolizer.h"
#include "tracer/sampling/proc_source.h"

namespace jankbox {

SampledThread::SampledThread(Body body)
    : thread_([this, body = std::move(body)] {
        tid_ = CurrentTid();
        tid_.notify_one();
        body(stop_);
      }) {
  tid_.wait(0);
}

SampledThread::~SampledThread() {
  stop_ = true;
  thread_.join();
}

bool WaitForState(int tid, char state) {
  const uint64_t deadline = MonotonicNs() + 10 * kNsPerSecond;
  while (MonotonicNs() < deadline) {
    const std::string path = "/proc/self/task/" + std::to_string(tid) + "/stat";
    if (ParseThreadState(ReadProcFile(path)) == state) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

std::vector<StackSample> CollectTimes(StackSampler* sampler, int count, int interval_ms) {
  std::vector<StackSample> samples;
  sampler->Start(1);
  for (int i = 0; i < count; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(interval_ms));
    sampler->Collect([&samples](const StackSample& sample) { samples.push_back(sample); });
  }
  sampler->Stop();
  return samples;
}

std::vector<StackSample> CollectFrom(StackSampler* sampler, SampleSource source, size_t count) {
  const uint64_t deadline = MonotonicNs() + 20 * kNsPerSecond;
  std::vector<StackSample> samples;
  sampler->Start(1);
  while (samples.size() < count && MonotonicNs() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    sampler->Collect([&](const StackSample& sample) {
      if (sample.source == source) samples.push_back(sample);
    });
  }
  sampler->Stop();
  return samples;
}

uint64_t CpuTimeNs(int tid) {
  const std::string path = "/proc/self/task/" + std::to_string(tid) + "/schedstat";
  return std::strtoull(ReadProcFile(path).c_str(), nullptr, 10);
}

std::vector<std::string> NamesOf(const StackSampler& sampler, const StackSample& sample) {
  return NamesOf(sampler.modules(), sample);
}

std::vector<std::string> NamesOf(const ModuleMap& modules, const StackSample& sample) {
  const std::vector<uint64_t> addresses(sample.pcs, sample.pcs + sample.depth);
  FrameTable frames = ResolveAddresses(modules, addresses);
  std::vector<std::string> names;
  for (uint64_t address : addresses) {
    const std::string& name = frames[address].function;
    names.push_back(name.substr(0, name.find('(')));
  }
  return names;
}

bool IsOrderedSubsequence(const std::vector<std::string>& names,
                          const std::vector<std::string>& stack) {
  auto from = stack.begin();
  for (const std::string& name : names) {
    from = std::find(from, stack.end(), name);
    if (from == stack.end()) return false;
    ++from;
  }
  return true;
}

std::string Join(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + " < ";
  return text;
}

}  // namespace jankbox

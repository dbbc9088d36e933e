// What the system says of a watched thread, as the test sets it, and a sampler that gives out the
// samples that the test put in. State that outlives the source: the code under test owns the
// source, the test owns the state.
#ifndef JANKBOX_TESTS_FAKES_FAKE_THREAD_SOURCE_H_
#define JANKBOX_TESTS_FAKES_FAKE_THREAD_SOURCE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sdk/runtime/thread_source.h"

namespace jankbox {

// Of one sampler: what it was asked for, and what it gives out.
struct FakeSamplerState {
  StackSampler::Options options;
  bool running = false;
  uint32_t starts = 0;
  uint32_t times = 0;  // of the last start
  uint32_t stops = 0;
  uint32_t collects = 0;
  StackSampler::Counters counters;
  std::string sources = "fake";
  std::string notes;
  std::vector<StackSample> next;  // passed on by the next Collect()
};

struct FakeThreadState {
  ThreadReading reading;
  WaitPeers peers;
  bool runs_meanwhile = false;       // while its peers are asked for
  std::function<void()> while_read;  // what it does meanwhile; null: nothing
  bool gone = false;
  bool traced = false;
  UiThreadReading scheduling;
  AnrThreads threads;
  bool samplers = true;  // false: there can be none

  // Counted by the source.
  uint32_t reads = 0;
  uint32_t peers_asked = 0;
  uint32_t dumps = 0;
  std::map<int32_t, std::shared_ptr<FakeSamplerState>> sampler_of;  // by tid, the latest
};

class FakeSampler final : public StackSampler {
 public:
  explicit FakeSampler(std::shared_ptr<FakeSamplerState> state) : state_(std::move(state)) {}

  void Start(uint32_t times) override {
    state_->times = times;
    state_->running = true;
    ++state_->starts;
  }
  void Stop() override {
    state_->running = false;
    ++state_->stops;
  }
  void Collect(const Sink& sink) override {
    ++state_->collects;
    for (const StackSample& sample : state_->next) sink(sample);
    state_->counters.taken += state_->next.size();
    state_->next.clear();
  }
  const Counters& counters() const override { return state_->counters; }
  std::string SourcesUsed() const override { return state_->sources; }
  std::string Notes() const override { return state_->notes; }
  const ModuleMap& modules() const override { return modules_; }

 private:
  const std::shared_ptr<FakeSamplerState> state_;
  const ModuleMap modules_;
};

class FakeThreadSource final : public ThreadSource {
 public:
  // `state` outlives the source.
  explicit FakeThreadSource(FakeThreadState* state) : state_(state) {}

  ThreadReading Read() override {
    ++state_->reads;
    if (state_->while_read) std::exchange(state_->while_read, nullptr)();
    return state_->reading;
  }
  WaitPeers PeersOf(const ThreadReading&, uint64_t) override {
    ++state_->peers_asked;
    if (state_->runs_meanwhile) ++state_->reading.switches;
    return state_->peers;
  }
  bool IsGone() override { return state_->gone; }
  bool IsTraced() override { return state_->traced; }
  UiThreadReading ReadScheduling() override { return state_->scheduling; }
  AnrThreads TakeThreads() override {
    ++state_->dumps;
    return state_->threads;
  }
  std::unique_ptr<StackSampler> NewSampler(int32_t tid,
                                           const StackSampler::Options& options) override {
    if (!state_->samplers) return nullptr;
    auto sampler = std::make_shared<FakeSamplerState>();
    sampler->options = options;
    state_->sampler_of[tid] = sampler;
    return std::make_unique<FakeSampler>(sampler);
  }

 private:
  FakeThreadState* const state_;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_FAKES_FAKE_THREAD_SOURCE_H_

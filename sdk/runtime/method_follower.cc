#include "sdk/runtime/method_follower.h"

#include <algorithm>

#include "base/clock.h"
#include "sdk/runtime/record_sample.h"

namespace jankbox {
namespace {

// Of a call that takes longer, the readings of its first part are forgotten.
constexpr uint64_t kKeptNs = 30 * kNsPerSecond;

}  // namespace

MethodFollower::MethodFollower(int32_t tid, const StackSampler::Options& options,
                               std::unique_ptr<ThreadSource> source)
    : tid_(tid),
      options_(options),
      source_(std::move(source)),
      owner_sampler_(options.mode, source_.get()) {}

const ThreadReading& MethodFollower::Read(uint64_t now_ns) {
  timeline_.ForgetBefore(now_ns - std::min(now_ns, kKeptNs));
  timeline_.Add(now_ns, source_->Read());
  return timeline_.points().back().reading;
}

void MethodFollower::Sample(uint64_t now_ns, bool overdue, const TickConverter& clock) {
  const auto record = [&clock](const StackSample& sample) { RecordSample(sample, clock); };
  const bool waits = overdue && timeline_.EndsInAWait();
  owner_sampler_.Look(waits ? timeline_.points().back().reading.lock_owner_tid : 0, now_ns, record);
  if (overdue && !sampling_ && sampler_ == nullptr) sampler_ = source_->NewSampler(tid_, options_);
  if (sampler_ == nullptr) return;
  if (overdue && !sampling_) {
    lost_before_ = sampler_->counters().lost;
    sampler_->Start(1);
  }
  if (sampling_) sampler_->Collect(record);
  if (!overdue && sampling_) sampler_->Stop();
  sampling_ = overdue;
}

void MethodFollower::Describe(SealRequest* request) const {
  request->readings = timeline_;
  if (sampler_ == nullptr) return;
  request->sampler = sampler_->SourcesUsed();
  request->lost_samples = sampler_->counters().lost - lost_before_;
  if (!sampler_->Notes().empty()) request->notes.push_back(sampler_->Notes());
}

}  // namespace jankbox

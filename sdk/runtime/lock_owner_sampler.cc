#include "sdk/runtime/lock_owner_sampler.h"

#include "base/clock.h"

namespace jankbox {

StackSampler::Mode WithoutSignals(StackSampler::Mode watched) {
  const bool perf =
      watched == StackSampler::Mode::kAuto || watched == StackSampler::Mode::kPerfOnly;
  return perf ? StackSampler::Mode::kNoSignal : StackSampler::Mode::kProcOnly;
}

LockOwnerSampler::LockOwnerSampler(StackSampler::Mode mode, ThreadSource* source)
    : mode_(WithoutSignals(mode)), source_(source) {}

void LockOwnerSampler::Look(int32_t owner_tid, uint64_t now_ns, const StackSampler::Sink& sink) {
  if (owner_tid != tid_) {
    tid_ = owner_tid;
    sampler_.reset();
    next_ns_ = now_ns;
    if (owner_tid == 0) return;
    sampler_ = source_->NewSampler(owner_tid, {.interval_ms = kIntervalMs, .mode = mode_});
    if (sampler_ == nullptr) return;
    sampler_->Start(1);
  }
  if (sampler_ == nullptr || now_ns < next_ns_) return;
  next_ns_ = now_ns + kIntervalMs * kNsPerMs;
  sampler_->Collect(sink);
}

}  // namespace jankbox

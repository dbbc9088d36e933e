// What the thread is doing that holds the lock which a watched thread waits for: one sample of its
// stack in 20 ms at most, by perf while it runs, through /proc while it is blocked,
// never by a signal. Watcher thread; allocates once an owner is known.
#ifndef JANKBOX_SDK_RUNTIME_LOCK_OWNER_SAMPLER_H_
#define JANKBOX_SDK_RUNTIME_LOCK_OWNER_SAMPLER_H_

#include <cstdint>
#include <memory>

#include "sdk/runtime/thread_source.h"

namespace jankbox {

// For threads that are not watched, if watched ones are sampled by `watched`.
StackSampler::Mode WithoutSignals(StackSampler::Mode watched);

class LockOwnerSampler {
 public:
  static constexpr uint32_t kIntervalMs = 20;

  // `mode` is that of the watched thread's own sampler. `source`, which outlives this, makes the
  // samplers.
  LockOwnerSampler(StackSampler::Mode mode, ThreadSource* source);

  // Passes samples of thread `owner_tid`; 0: nobody is waited for.
  void Look(int32_t owner_tid, uint64_t now_ns, const StackSampler::Sink& sink);

 private:
  const StackSampler::Mode mode_;
  ThreadSource* const source_;
  int32_t tid_ = 0;
  uint64_t next_ns_ = 0;
  std::unique_ptr<StackSampler> sampler_;  // of tid_; kept while the same thread is waited for
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_LOCK_OWNER_SAMPLER_H_

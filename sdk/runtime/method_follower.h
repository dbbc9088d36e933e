// What is known of a thread while a call of it may turn out to be a slow method: readings, and
// stack samples once the call is overdue. Watcher thread; allocates.
#ifndef JANKBOX_SDK_RUNTIME_METHOD_FOLLOWER_H_
#define JANKBOX_SDK_RUNTIME_METHOD_FOLLOWER_H_

#include <cstdint>
#include <memory>

#include "diagnosis/seal/seal_request.h"
#include "monitors/incident/verdict_timeline.h"
#include "sdk/runtime/lock_owner_sampler.h"
#include "sdk/runtime/thread_source.h"
#include "tracer/clock/tick_clock.h"

namespace jankbox {

class MethodFollower {
 public:
  MethodFollower(int32_t tid, const StackSampler::Options& options,
                 std::unique_ptr<ThreadSource> source);

  // Reads the thread at `now_ns`; the first call of a new follower.
  const ThreadReading& Read(uint64_t now_ns);

  // When it was read last.
  uint64_t read_ns() const { return timeline_.points().back().time_ns; }

  // Samples the thread from now on, as long as this is called with `overdue`.
  void Sample(uint64_t now_ns, bool overdue, const TickConverter& clock);

  // Adds what is known of the thread.
  void Describe(SealRequest* request) const;

 private:
  const int32_t tid_;
  const StackSampler::Options options_;
  const std::unique_ptr<ThreadSource> source_;
  LockOwnerSampler owner_sampler_;
  VerdictTimeline timeline_;
  std::unique_ptr<StackSampler> sampler_;  // null: nothing was overdue, or there can be none
  uint64_t lost_before_ = 0;               // samples, before they were taken this time
  bool sampling_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_METHOD_FOLLOWER_H_

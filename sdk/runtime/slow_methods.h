// Slow methods, from the open calls in the ring to requests to seal: follows threads whose calls
// are suspect, rules out calls in which a thread waits for an event, and describes those that were
// too slow. Watcher thread; allocates.
#ifndef JANKBOX_SDK_RUNTIME_SLOW_METHODS_H_
#define JANKBOX_SDK_RUNTIME_SLOW_METHODS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "diagnosis/seal/seal_request.h"
#include "monitors/incident/held_time.h"
#include "monitors/incident/refusals.h"
#include "monitors/method/slow_method_finder.h"
#include "sdk/api/options.h"
#include "sdk/runtime/method_follower.h"
#include "tracer/ring/ring_file.h"

namespace jankbox {

class SlowMethods {
 public:
  using Seal = std::function<void(SealRequest)>;
  using NewSource = std::function<std::unique_ptr<ThreadSource>(int32_t tid)>;

  // `ring` and `refusals` outlive this. `new_source` answers questions about a thread; none: the
  // live one.
  SlowMethods(const Options& options, const RingFile* ring, Refusals* refusals, Seal seal,
              NewSource new_source = {});

  void SetThresholds(const Thresholds& thresholds);

  // Stretches in which this process could not run, known before the poll that they count for.
  void NoteHolds(std::span<const Hold> holds);

  // Polls the threads at `now_ns`.
  void Poll(uint64_t now_ns, const TickConverter& clock);

  // No more polls. `process_exits`: the main thread has returned from main() or called exit().
  void Finish(uint64_t now_ns, const TickConverter& clock, bool process_exits);

  // How long until the next poll, in ns.
  uint64_t NextPollNs() const { return next_ns_; }

  // A call is suspect.
  bool active() const { return active_; }

 private:
  using Followers = std::map<uint64_t, std::unique_ptr<MethodFollower>>;
  static constexpr size_t kMaxFollowers = 16;

  void SealFound(uint64_t now_ns);
  SealRequest RequestOf(const SlowMethod& method) const;
  void FollowSuspects(uint64_t now_ns);
  void FollowSuspect(const SuspectMethod& suspect, uint64_t now_ns);
  MethodFollower* FollowerOf(const SuspectMethod& suspect);
  void LetGo(std::span<const SuspectMethod> suspects, uint64_t now_ns);

  Options options_;
  const Seal seal_;
  const NewSource new_source_;
  const RingReader reader_;
  HoldHistory holds_;
  SlowMethodFinder finder_;
  Followers followers_;  // by the thread's serial
  TickConverter clock_;
  uint64_t next_ns_ = 0;
  bool active_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_SLOW_METHODS_H_

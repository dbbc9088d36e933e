// From what is seen of another process's thread from outside (its calls of wait functions, its
// context switches) to the dispatches of its loop. What delimits them is LoopWaits, as inside a
// process; what is added here is that a wait is not seen to return: it does when the thread is back
// on a CPU, or at once if it never leaves it, and /proc confirms that while the dispatch lasts.
// Pure; the watching thread's.
#ifndef JANKBOX_TOOLS_ATTACH_LOOP_FOLLOWER_H_
#define JANKBOX_TOOLS_ATTACH_LOOP_FOLLOWER_H_

#include <cstdint>

#include "base/clock.h"
#include "monitors/looper/loop_waits.h"

namespace jankbox::tools {

// Gets the dispatches, in turns, at moments of CLOCK_MONOTONIC that never go back.
class DispatchSink {
 public:
  virtual void OnBegin(uint64_t ns) = 0;
  virtual void OnEnd(uint64_t ns) = 0;
  // What runs is no dispatch, or not known to be one.
  virtual void OnForget(uint64_t ns) = 0;

 protected:
  ~DispatchSink() = default;
};

class LoopFollower {
 public:
  // Both outlive it.
  LoopFollower(const LoopMemory* memory, DispatchSink* sink) : waits_(memory), sink_(sink) {}

  // The thread calls a wait function at `ns`.
  void OnCall(uint64_t ns, const WaitCall& call, LoopModule module);
  // The wait is known to return.
  void OnReturn(uint64_t ns);
  // It leaves its CPU, because it waits for something or because another thread runs; and is back.
  void OnSwitchOut(bool preempted);
  void OnSwitchIn(uint64_t ns);
  // It is blocked since `ns`, in what is not known: perhaps in its loop. OnReturn() follows.
  void OnUnknownBlock(uint64_t ns);
  // The same, where it was seen in its loop's wait before.
  void OnLoopBlock(uint64_t ns);
  // What runs may be the loop's wait: it is asked about.
  void OnDoubt(uint64_t now_ns);
  // The process exits: what runs from now on is no dispatch.
  void OnExit(uint64_t ns);
  // Events are missing.
  void OnLoss(uint64_t ns);

  // All events up to `now_ns` were passed. True if it is to be asked whether the thread is still in
  // its loop's wait: the answer goes to OnAnswer().
  bool IsDoubtful(uint64_t now_ns) const;
  void OnAnswer(uint64_t now_ns, bool waits);

  bool waiting() const { return state_ == State::kWaiting; }
  bool running() const { return state_ == State::kRunning; }
  uint64_t running_since_ns() const { return begin_ns_; }
  // The stack pointer of the wait's caller: what the wait calls is below.
  const void* wait_stack() const { return stack_; }
  const char* loop_name() const { return waits_.reported_name(); }

 private:
  // kUnknown: since the start, or a loss. kWaiting: in the loop's own wait, or perhaps.
  enum class State { kUnknown, kWaiting, kRunning, kExited };

  // A wait that has not blocked, or is back on a CPU, for so long has returned unseen.
  static constexpr uint64_t kDoubtNs = 5 * kNsPerMs;
  // A dispatch whose start is inferred is asked about this often.
  static constexpr uint64_t kAskAgainNs = 20 * kNsPerMs;

  void Begin(uint64_t ns, bool inferred);
  void Wait(uint64_t ns);
  void End(uint64_t ns);
  // When a wait whose return was not seen must have returned.
  uint64_t ReturnNs() const { return resumed_ns_ != 0 ? resumed_ns_ : wait_ns_; }

  LoopWaits waits_;
  DispatchSink* const sink_;
  State state_ = State::kUnknown;
  const void* stack_ = nullptr;
  uint64_t wait_ns_ = 0;     // of kWaiting: since when
  bool blocked_ = false;     // it has left its CPU in there
  uint64_t resumed_ns_ = 0;  // and was back for the first time; 0: is not
  uint64_t begin_ns_ = 0;    // of kRunning
  bool inferred_ = false;    // it may still be the wait that it began after
  uint64_t asked_ns_ = 0;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_LOOP_FOLLOWER_H_

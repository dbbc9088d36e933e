// The calls that one thread has open, followed through its recorded events, and which of them
// cannot be a slow method: calls in a dispatch, calls that contain a dispatch, a frame or a wait
// for an event, and the thread's outermost call. Pure; watcher thread; allocates.
#ifndef JANKBOX_MONITORS_METHOD_THREAD_CALLS_H_
#define JANKBOX_MONITORS_METHOD_THREAD_CALLS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tracer/ring/ring_window.h"

namespace jankbox {

struct MethodCall {
  uint32_t id = 0;
  uint64_t begin_ticks = 0;
  uint64_t end_ticks = 0;
};

// Decides whether a call that ended was too slow.
class MethodJudge {
 public:
  virtual ~MethodJudge() = default;
  // `reported_ns` of the call are those of slow methods inside it. Returns the time that is
  // reported now, these included; 0 if the call is no slow method.
  virtual uint64_t OnEnded(const MethodCall& call, uint64_t reported_ns) = 0;
};

class ThreadCalls {
 public:
  // `judge` outlives this.
  explicit ThreadCalls(MethodJudge* judge) : judge_(judge) {}

  void Apply(const EventRecord& event);

  // Events are missing: at the start of a chunk, `open` were open, and `truncated` others inside
  // them. Calls that are no longer open ended after `seen_ticks`, the last moment they were seen.
  void Resume(const std::vector<OpenCall>& open, uint32_t truncated, uint64_t seen_ticks);

  // Whether a call that began by `begin_ticks`, and that may be a slow method, is not in `open`.
  bool HasEnded(const std::vector<OpenCall>& open, uint64_t begin_ticks) const;

  // The thread ended: so did its calls, and the first of these was its main function.
  void EndThread(uint64_t ticks);

  // The thread is alive: a call that may have been its main function is an ordinary one if it has
  // ended.
  void ConfirmAlive();

  // No call that is open is a slow method; those only that began by `begin_ticks`.
  void RuleOut(uint64_t begin_ticks = UINT64_MAX);

  // The innermost open call that may turn out to be a slow method.
  struct Suspect {
    uint32_t id = 0;
    uint64_t begin_ticks = 0;
    bool outermost = false;  // it may be the thread's main function
  };
  std::optional<Suspect> suspect() const;

  // When a call that may have been the main function ended; nullopt if the thread did anything
  // since.
  std::optional<uint64_t> awaits_confirmation() const {
    return outermost_ ? std::optional(outermost_->end_ticks) : std::nullopt;
  }

 private:
  struct Open {
    uint64_t begin_ticks = 0;
    uint32_t id = 0;
    bool dispatch = false;
    bool outermost = false;  // the first call of the thread
    bool ruled_out = false;
    uint64_t reported_ns = 0;
  };
  static constexpr size_t kMaxOpen = 128;  // as a chunk's; the ends of inner ones are only counted

  static bool IsSame(const Open& call, const OpenCall& other);
  size_t SameUntil(const std::vector<OpenCall>& open) const;
  void Push(uint32_t id, bool dispatch, uint64_t ticks);
  void Pop(uint32_t id, bool dispatch, uint64_t ticks);
  void Shrink(size_t size);
  void Finish(const Open& call, uint64_t ticks);
  void Judge(const MethodCall& call, uint64_t reported_ns);

  MethodJudge* judge_;
  std::vector<Open> open_;  // outermost first
  size_t inner_ = 0;        // open beyond kMaxOpen
  size_t dispatches_ = 0;   // of open_
  bool has_called_ = false;
  std::optional<MethodCall> outermost_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_METHOD_THREAD_CALLS_H_

// Notices that a watched thread does not come back: a lag (2 s, as Matrix' LAG) and an ANR (5 s in
// front, as Android's input dispatch; 10 s in the background, as Matrix' head-message test), which
// is raised once a dispatch while it still lasts, so that a report exists even if the app is killed
// next. Rules out what is not the app's doing and counts why (docs/false-positives.md). Pure logic;
// the watcher thread's.
#ifndef JANKBOX_MONITORS_ANR_ANR_MONITOR_H_
#define JANKBOX_MONITORS_ANR_ANR_MONITOR_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "monitors/incident/held_time.h"
#include "monitors/incident/refusals.h"
#include "monitors/incident/signal.h"
#include "monitors/incident/watched_thread_view.h"

namespace jankbox {

struct AnrLimits {
  uint64_t slow_ns = 0;
  uint64_t lag_ns = 0;
  uint64_t anr_ns = 0;         // in front
  uint64_t background_ns = 0;  // else; at least anr_ns
};

// The circumstances under which a dispatch is judged.
struct AnrFacts {
  HeldTime held;                 // of the dispatch so far
  uint64_t in_front_ns = 0;      // how long the app has been in front; 0: it is in the background
  bool asked_by_signal = false;  // SIGQUIT: the system thinks that it is an ANR
};

class AnrMonitor {
 public:
  // True if a debugger is attached to the watched thread. Asked only if an ANR hangs on it.
  using IsTraced = std::function<bool()>;

  AnrMonitor(const AnrLimits& limits, Refusals* refusals, IsTraced is_traced);

  // The dispatch that runs at `now_ns`.
  void OnRunning(const RunningDispatch& running, const AnrFacts& facts, uint64_t now_ns,
                 SignalSink* sink);

  // A dispatch that ended, maybe before it was found overdue. Returns its kind: an ANR, a
  // lag, a slow message, or less.
  void OnEnded(const SlowDispatch& slow, const AnrFacts& facts, SignalSink* sink);

  // After the two above: the dispatch that runs now began at `running_begin_ns`, 0: none. What was
  // refused and is over is counted.
  void Settle(uint64_t running_begin_ns, uint64_t now_ns);

  // From the next call on.
  void SetLimits(const AnrLimits& limits) { limits_ = limits; }

  // The limit that the last ANR was judged by, in ns; 0: none yet.
  uint64_t limit_ns() const { return limit_ns_; }

 private:
  struct Refused {
    uint64_t begin_ns;
    RefusalReason reason;
  };

  // The limit that was passed; 0: none, and `refused` says why if one would have been.
  uint64_t Judge(uint64_t elapsed_ns, const AnrFacts& facts,
                 std::optional<RefusalReason>* refused) const;

  AnrLimits limits_;
  Refusals* const refusals_;
  const IsTraced is_traced_;
  uint64_t limit_ns_ = 0;
  uint64_t raised_begin_ns_ = 0;
  std::optional<Refused> refused_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_ANR_ANR_MONITOR_H_

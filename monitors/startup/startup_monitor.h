// How long the app took from the start of its process, or from its return to the front, to its
// first frame (Matrix' StartupTracer: a cold start of 10 s, a warm one of 4 s is too slow). Pure
// logic; the watcher thread's. Times are ns of CLOCK_MONOTONIC.
#ifndef JANKBOX_MONITORS_STARTUP_STARTUP_MONITOR_H_
#define JANKBOX_MONITORS_STARTUP_STARTUP_MONITOR_H_

#include <cstdint>
#include <optional>

#include "monitors/incident/startup_times.h"

namespace jankbox {

struct StartupThresholds {
  uint64_t cold_ns = 10'000'000'000;
  uint64_t warm_ns = 4'000'000'000;
};

class StartupMonitor {
 public:
  // The process began at `process_ns`, and Jankbox records since `recorder_ns`.
  StartupMonitor(uint64_t process_ns, uint64_t recorder_ns);

  void OnDispatch(uint64_t begin_ns);
  void OnFrame(uint64_t end_ns);
  // The app says that its start is over: later than the first frame, or instead of it.
  void OnDrawn(uint64_t now_ns);
  // A start that is not seen is none: leaving the front ends what was being timed.
  void OnForeground(bool in_front, uint64_t now_ns);

  // A start that is over, once.
  std::optional<StartupTimes> TakeFinished(uint64_t now_ns);

  static bool TooSlow(const StartupTimes& times, const StartupThresholds& thresholds) {
    return times.end_ns() - times.begin_ns >=
           (times.cold ? thresholds.cold_ns : thresholds.warm_ns);
  }

 private:
  // An app that says when it is drawn may take this long after its first frame.
  static constexpr uint64_t kDrawnWithinNs = 5'000'000'000;

  std::optional<StartupTimes> current_;
  bool says_drawn_ = false;  // it did before, so it is waited for
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_STARTUP_STARTUP_MONITOR_H_

// When the watcher asks for what nothing wakes it for: once a second while anything happens, and
// ever more rarely while nothing does. What stands in files is asked for every four seconds. Pure
// logic. Watcher thread; NO-ALLOC.
#ifndef JANKBOX_SDK_RUNTIME_SWEEP_PACE_H_
#define JANKBOX_SDK_RUNTIME_SWEEP_PACE_H_

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

class SweepPace {
 public:
  static constexpr uint64_t kBusyNs = kNsPerSecond;
  static constexpr uint64_t kFilesNs = 4 * kNsPerSecond;
  static constexpr uint64_t kEarlyNs = 50 * kNsPerMs;

  // When the next one is due, CLOCK_MONOTONIC. `may_slow_down`: nothing has to be noticed within
  // a second.
  uint64_t DueNs(bool may_slow_down) const {
    if (swept_ns_ == 0) return 0;
    return swept_ns_ + (may_slow_down ? every_ns_ : kBusyNs);
  }

  // One that is due soon after a look is done with it: it would cost a wake-up.
  bool IsDue(uint64_t now_ns, bool may_slow_down) const {
    return now_ns + kEarlyNs >= DueNs(may_slow_down);
  }

  // True if there was none before.
  bool first() const { return swept_ns_ == 0; }

  // One begins; returns whether anything happened since the last one. While nothing does, the next
  // one is due after 16 times the time: caches are cold by then, and each sweep pays for that.
  bool Sweeps(uint64_t now_ns) {
    const bool busy = every_ns_ == kBusyNs;
    swept_ns_ = now_ns;
    every_ns_ = std::min(16 * every_ns_, kMaxHeartbeatGapNs);
    return busy;
  }

  // In a sweep: whether it is to read files, once. What an idle one read counts for nothing in a
  // `busy` one, which reads more of them.
  bool ReadsFiles(bool busy) {
    const bool read = files_ns_ != 0 && (files_busy_ || !busy);
    if (read && swept_ns_ + kEarlyNs < files_ns_ + kFilesNs) return false;
    files_ns_ = swept_ns_;
    files_busy_ = busy;
    return true;
  }

  // Something happens.
  void Busy() { every_ns_ = kBusyNs; }

 private:
  uint64_t swept_ns_ = 0;
  uint64_t files_ns_ = 0;
  bool files_busy_ = false;
  uint64_t every_ns_ = kBusyNs;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_SWEEP_PACE_H_

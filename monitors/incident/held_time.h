// Stretches in which a thread could not run whatever the app did: the process was stopped, the
// machine slept, a debugger stopped the thread. They are no part of an incident's duration. Beside
// them, stretches in which Jankbox's watcher got no CPU: those count, but do not lead to an ANR.
// docs/false-positives.md has the rules. Watcher thread; NO-ALLOC.
#ifndef JANKBOX_MONITORS_INCIDENT_HELD_TIME_H_
#define JANKBOX_MONITORS_INCIDENT_HELD_TIME_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "monitors/incident/refusals.h"

namespace jankbox {

struct Hold {
  RefusalReason reason = RefusalReason::kStopped;  // or kSuspended, kTraced, kWatcherLate
  uint64_t from_ns = 0;                            // CLOCK_MONOTONIC
  uint64_t to_ns = 0;
  uint64_t beyond_ns = 0;  // kSuspended: what BOOTTIME counted and MONOTONIC did not
};

// The stopped parts of a stretch of time, and their causes.
struct HeldTime {
  uint64_t stopped_ns = 0;
  uint64_t suspended_ns = 0;  // of the stretch itself
  uint64_t traced_ns = 0;
  uint64_t beyond_ns = 0;  // slept beyond the stretch's own clock
  uint64_t late_ns = 0;    // the watcher was starved

  // The time that is not part of a duration.
  uint64_t held_ns() const { return stopped_ns + suspended_ns + traced_ns; }

  // The cause of the largest part; kWatcherLate if there is no other.
  RefusalReason Main() const;
};

class HoldHistory {
 public:
  // In order of time. Overlaps with an earlier stop of the subtracted kinds are cut.
  void Add(Hold hold);

  HeldTime Within(uint64_t from_ns, uint64_t to_ns) const;

  // Calls visit(from, to) for each part of [from_ns, to_ns] that was not stopped.
  template <typename Visit>
  void EachFree(uint64_t from_ns, uint64_t to_ns, Visit visit) const {
    for (size_t i = first(); i < added_ && from_ns < to_ns; ++i) {
      const Hold& hold = holds_[i % kMaxHolds];
      if (hold.reason == RefusalReason::kWatcherLate || hold.to_ns <= from_ns) continue;
      if (hold.from_ns >= to_ns) break;
      if (hold.from_ns > from_ns) visit(from_ns, hold.from_ns);
      from_ns = hold.to_ns;
    }
    if (from_ns < to_ns) visit(from_ns, to_ns);
  }

 private:
  static constexpr size_t kMaxHolds = 64;  // beyond it the oldest is forgotten

  size_t first() const { return added_ > kMaxHolds ? added_ - kMaxHolds : 0; }

  std::array<Hold, kMaxHolds> holds_;
  size_t added_ = 0;
  uint64_t held_until_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_HELD_TIME_H_

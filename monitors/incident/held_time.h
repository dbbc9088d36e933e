// Stretches in which a thread could not run whatever the app did: the process was stopped, the
// machine slept, a debugger held the thread. They are no part of an incident's duration. Beside
// them, stretches in which our own watcher was starved: those count, but no ANR rests on them.
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

// What of a stretch of time was held, and by what.
struct HeldTime {
  uint64_t stopped_ns = 0;
  uint64_t suspended_ns = 0;  // of the stretch itself
  uint64_t traced_ns = 0;
  uint64_t beyond_ns = 0;  // slept beyond the stretch's own clock
  uint64_t late_ns = 0;    // the watcher was starved

  // What is no part of a duration.
  uint64_t held_ns() const { return stopped_ns + suspended_ns + traced_ns; }

  // What most of it is owed to; kWatcherLate where there is nothing else.
  RefusalReason Main() const;
};

class HoldHistory {
 public:
  // In order of time. What overlaps an earlier hold of the kinds that are taken off is cut.
  void Add(Hold hold);

  HeldTime Within(uint64_t from_ns, uint64_t to_ns) const;

  // Calls visit(from, to) for each part of [from_ns, to_ns] that was not held.
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

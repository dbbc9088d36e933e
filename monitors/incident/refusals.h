// Counts of incidents that were detected and not reported, by reason: no incident is dropped
// without a count. The counts are in every report. Any thread; NO-ALLOC but for Counts().
#ifndef JANKBOX_MONITORS_INCIDENT_REFUSALS_H_
#define JANKBOX_MONITORS_INCIDENT_REFUSALS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace jankbox {

// Numbers are permanent: they are in files.
enum class RefusalReason : uint32_t {
  kStopped = 0,       // SIGSTOP or a freezer stopped the process
  kSuspended = 1,     // the machine slept: BOOTTIME ran ahead of MONOTONIC
  kTraced = 2,        // a debugger stopped the thread
  kWatcherLate = 3,   // Jankbox's watcher got no CPU, so that its view of the time is wrong
  kBackground = 4,    // the app is not in front, if an ANR takes longer
  kNotRendering = 5,  // nothing was to be drawn
  kBadMetrics = 6,    // a frame's times cannot be true
  kDailyCap = 7,      // reports a day
  kFingerprint = 8,   // this cause is known: counted, not written again
  kVeto = 9,          // a listener of the app said no
  kQueueFull = 10,    // more incidents at once than the sealer takes
  kNoSpace = 11,      // the disk, or the spool's quota
  kOverBudget = 12,   // known, and there was no CPU time left to look at it
};
inline constexpr size_t kRefusalReasons = 13;

// "stopped", "suspended", …
const char* RefusalReasonName(RefusalReason reason);

struct RefusalCount {
  RefusalReason reason = RefusalReason::kStopped;
  uint64_t count = 0;
  uint64_t last_ns = 0;  // CLOCK_MONOTONIC
};

class Refusals {
 public:
  void Add(RefusalReason reason, uint64_t now_ns) {
    Entry& entry = entries_[static_cast<size_t>(reason)];
    entry.count.fetch_add(1, std::memory_order_relaxed);
    entry.last_ns.store(now_ns, std::memory_order_relaxed);
  }

  uint64_t count(RefusalReason reason) const {
    return entries_[static_cast<size_t>(reason)].count.load(std::memory_order_relaxed);
  }

  // Those that are not zero.
  std::vector<RefusalCount> Counts() const;

 private:
  struct Entry {
    std::atomic<uint64_t> count{0};
    std::atomic<uint64_t> last_ns{0};
  };
  std::array<Entry, kRefusalReasons> entries_;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_REFUSALS_H_

// The watcher's side of a watched thread: a consistent copy of what the thread says of itself in
// the ring, in ns. Never waits for the thread: a copy that was torn is the previous one. Watcher
// thread; allocates for names only.
#ifndef JANKBOX_MONITORS_INCIDENT_WATCHED_THREAD_VIEW_H_
#define JANKBOX_MONITORS_INCIDENT_WATCHED_THREAD_VIEW_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tracer/clock/tick_clock.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

// The dispatch that runs now.
struct RunningDispatch {
  uint64_t begin_ticks =
      0;  // tells two dispatches apart; ns differ slightly as the clock is calibrated
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  std::string what;
};

// A dispatch that ended, at or above the slow threshold.
struct SlowDispatch {
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  std::string what;
  uint32_t missed = 0;     // others ended since the last one was taken: only the last one is kept
  uint64_t missed_ns = 0;  // how long these took together
  // Of the slot, with this one and all before it.
  uint32_t version = 0;
  uint64_t total_ticks = 0;
  uint64_t own_ticks = 0;
  uint64_t begin_ticks = 0;
};

// The loop name of the watched thread at `index`, else that of the process.
std::string LoopNameOf(const RingHeader& ring, size_t index);

class WatchedThreadView {
 public:
  explicit WatchedThreadView(const RingWatchedThread* thread) : thread_(thread) {}

  int32_t tid() const { return thread_->tid.load(std::memory_order_acquire); }

  // Empty while the thread waits for its next message.
  std::optional<RunningDispatch> ReadRunning(const TickConverter& clock) const;

  // The last slow dispatch, once: empty until the next one ends.
  std::optional<SlowDispatch> TakeSlow(const TickConverter& clock);

 private:
  const RingWatchedThread* thread_;
  uint32_t seen_slow_version_ = 0;
  uint64_t seen_total_ticks_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_INCIDENT_WATCHED_THREAD_VIEW_H_

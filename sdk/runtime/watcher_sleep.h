// The watcher's sleep between two looks, in which nothing that begins is missed. Created, used and
// destroyed on the watcher thread; Sleep() is NO-ALLOC.
#ifndef JANKBOX_SDK_RUNTIME_WATCHER_SLEEP_H_
#define JANKBOX_SDK_RUNTIME_WATCHER_SLEEP_H_

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "monitors/anr/heartbeat.h"
#include "sdk/runtime/look_pace.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ring/ring_format.h"

namespace jankbox {

class WatcherSleep {
 public:
  // Chunks taken since the last look: the ring may have to grow soon. They end a sleep that is
  // longer than kBusyLookNs, and the next one is to be no longer.
  static constexpr uint32_t kBusyClaims = 2;
  static constexpr uint64_t kBusyLookNs = 50 * kNsPerMs;

  struct Slept {
    bool idle = false;       // whatever begins wakes the watcher, and nothing did
    uint64_t rested_ns = 0;  // until when nothing began, CLOCK_MONOTONIC; 0: not known
  };

  explicit WatcherSleep(const RingHeader* ring);  // which outlives it
  ~WatcherSleep();

  // After a look that saw `look`, but for `look.asleep`. Not for long once `stop` is set.
  Slept Sleep(LookPace::Look look, const TickConverter& clock, const std::atomic<bool>& stop,
              Heartbeat* heartbeat);

 private:
  bool DispatchRuns() const;

  const RingHeader* const ring_;
  bool fences_;
  LookPace pace_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_WATCHER_SLEEP_H_

#include "sdk/runtime/watcher_sleep.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/files/seccomp.h"
#include "tracer/event/others_fence.h"
#include "tracer/event/watcher_wake.h"

namespace jankbox {
namespace {

// A processor delays a store for less than a microsecond.
constexpr uint64_t kNoFenceNs = 10 * kNsPerMs;
// A dispatch that woke the watcher, and still runs, is looked at this much later: most are over by
// then.
constexpr uint64_t kWokenLookNs = 50 * kNsPerMs;

bool MayFence() { return !MayBeFiltered() && OthersFence::Register(); }

}  // namespace

WatcherSleep::WatcherSleep(const RingHeader* ring) : ring_(ring), fences_(MayFence()) {}

WatcherSleep::~WatcherSleep() { WatcherWake::SetAsleep(false); }

bool WatcherSleep::DispatchRuns() const {
  return std::any_of(std::begin(ring_->watched), std::end(ring_->watched),
                     [](const RingWatchedThread& thread) {
                       return thread.dispatch_begin_ticks.load(std::memory_order_relaxed) != 0;
                     });
}

WatcherSleep::Slept WatcherSleep::Sleep(LookPace::Look look, const TickConverter& clock,
                                        const std::atomic<bool>& stop, Heartbeat* heartbeat) {
  look.asleep = WatcherWake::asleep();
  LookPace::Plan plan = pace_.Next(look);
  const bool rests = plan.asleep && look.asleep;
  if (!rests) WatcherWake::SetAsleep(plan.asleep);
  if (plan.asleep && !rests) {  // what did not see that has begun visibly afterwards
    fences_ = fences_ && OthersFence::Run();
    plan.sleep_ns = fences_ ? 0 : kNoFenceNs;
  }
  const bool dozes = !plan.asleep && plan.sleep_ns > kBusyLookNs;
  WatcherWake::AwaitClaims(dozes ? kBusyClaims : 0);
  heartbeat->Sleeps(plan.sleep_ns, rests);
  if (plan.sleep_ns != 0) WatcherWake::word().Wait(plan.sleep_ns);
  const auto activity = WatcherWake::Take();
  if (!activity) return {.idle = plan.asleep};
  const uint64_t woken_ns = clock.ToMonotonicNs(activity->woken_ticks);
  pace_.Woken(woken_ns, look.deadline_ns);
  const bool sleeps_on = DispatchRuns() && !stop.load(std::memory_order_acquire);
  const uint64_t look_ns = sleeps_on ? std::min(look.look_ns, kWokenLookNs) : 0;
  heartbeat->SleepsOn(woken_ns, look_ns);
  if (sleeps_on) WatcherWake::word().Wait(look_ns);
  return {.rested_ns = rests ? clock.ToMonotonicNs(activity->begin_ticks) : 0};
}

}  // namespace jankbox

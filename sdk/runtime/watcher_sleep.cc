#include "sdk/runtime/watcher_sleep.h"

#include <algorithm>
#include <optional>

#include "base/files/seccomp.h"
#include "tracer/event/others_fence.h"
#include "tracer/event/watcher_wake.h"

namespace jankbox {
namespace {

// A processor delays a store for less than a microsecond.
constexpr uint64_t kNoFenceNs = 10 * kNsPerMs;
// What woke the watcher is looked at this much later: most of it is over by then.
constexpr uint64_t kWokenLookNs = 50 * kNsPerMs;

bool MayFence() { return !MayBeFiltered() && OthersFence::Register(); }

}  // namespace

WatcherSleep::WatcherSleep() : fences_(MayFence()) {}

WatcherSleep::~WatcherSleep() { WatcherWake::SetAsleep(false); }

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
  const uint64_t look_ns = std::min(look.look_ns, kWokenLookNs);
  const uint64_t woken_ns = clock.ToMonotonicNs(activity->woken_ticks);
  pace_.Woken(woken_ns, look.deadline_ns);
  heartbeat->SleepsOn(woken_ns, look_ns);
  if (!stop.load(std::memory_order_acquire)) WatcherWake::word().Wait(look_ns);
  return {.rested_ns = rests ? clock.ToMonotonicNs(activity->begin_ticks) : 0};
}

}  // namespace jankbox

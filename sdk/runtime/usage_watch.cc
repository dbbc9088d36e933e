#include "sdk/runtime/usage_watch.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/clock.h"
#include "base/uuid.h"
#include "sdk/api/foreground.h"

namespace jankbox {
namespace {

// When this process was seen in front last, on CLOCK_BOOTTIME: a stop and another start of the
// recording go on with the session. Watcher threads, one at a time.
struct LastInFront {
  pid_t pid = 0;
  uint64_t boottime_ns = 0;
};
LastInFront g_last;

}  // namespace

UsageMoment UsageMoment::Read(uint64_t now_ns) {
  return {.boottime_ns = ClockNs(CLOCK_BOOTTIME),
          .day = RealtimeNs() / (24 * 3600 * kNsPerSecond),
          .in_front = InFrontNs(now_ns) != 0,
          .total_in_front_ns = TotalInFrontNs(now_ns)};
}

void UsageWatch::Begin(const UsageMoment& now) {
  from_in_front_ns_ = now.total_in_front_ns;
  day_ = now.day;
  counted_boottime_ns_ = now.boottime_ns;
  ring_->BeginUsage(NewUuid(0), now.day);
  Look(now);
}

void UsageWatch::NoteHolds(std::span<const Hold> holds) {
  for (const Hold& hold : holds) {
    const bool stopped = hold.reason != RefusalReason::kWatcherLate && hold.to_ns > hold.from_ns;
    if (stopped && InFrontNs(hold.to_ns) != 0) held_ns_ += hold.to_ns - hold.from_ns;
  }
}

void UsageWatch::Look(const UsageMoment& now) {
  if (now.in_front) {
    const bool same = g_last.pid == getpid();
    if (!same || now.boottime_ns >= g_last.boottime_ns + kSessionGapNs) ++sessions_;
    g_last = {getpid(), now.boottime_ns};
  }
  const uint64_t in_front_ns =
      now.total_in_front_ns - std::min(now.total_in_front_ns, from_in_front_ns_);
  // Never less than before: what was stopped is known a look later.
  foreground_ns_ = std::max(foreground_ns_, in_front_ns - std::min(in_front_ns, held_ns_));
  ring_->SetUsage(foreground_ns_, sessions_);
  if (now.day == day_ && now.boottime_ns < counted_boottime_ns_ + kCountUsageEveryNs) return;
  day_ = now.day;
  counted_boottime_ns_ = now.boottime_ns;
  count_();
}

void UsageWatch::ForgetSession() { g_last = {}; }

}  // namespace jankbox

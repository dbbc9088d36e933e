#include "sdk/runtime/startup_watch.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "base/clock.h"
#include "base/uuid.h"
#include "tracer/event/watcher_wake.h"

namespace jankbox {
namespace {

std::atomic<uint64_t> g_drawn_ns{0};

// The kernel says it in its own ticks (10 ms) since boot.
uint64_t ProcessBeginNs(const RingHeader& ring) {
  const auto ticks_a_second = static_cast<uint64_t>(std::max(sysconf(_SC_CLK_TCK), 1L));
  const uint64_t boottime_ns = ring.process_start_ticks * (kNsPerSecond / ticks_a_second);
  const ClockReading& start = ring.clock_at_start;
  const uint64_t age_ns = start.boottime_ns - std::min(start.boottime_ns, boottime_ns);
  return start.monotonic_ns - std::min(start.monotonic_ns, age_ns);
}

SealRequest RequestOf(const StartupTimes& times) {
  SealRequest request;
  request.id = NewUuid(RealtimeNs() / kNsPerMs);
  request.kind = ReportKind::kStartup;
  request.begin_ns = times.begin_ns;
  request.end_ns = times.end_ns();
  request.what = times.cold ? "cold start" : "warm start";
  request.tid = getpid();
  request.watched_index = kMaxWatchedThreads;
  request.startup = times;
  return request;
}

}  // namespace

StartupWatch::StartupWatch(const RingHeader& ring)
    : monitor_(ProcessBeginNs(ring), ring.clock_at_start.monotonic_ns) {}

void StartupWatch::NoteDrawn(uint64_t now_ns) {
  g_drawn_ns.store(now_ns, std::memory_order_relaxed);
  WatcherWake::OnActivity();
}

void StartupWatch::OnThread(uint64_t dispatch_ns, uint64_t frame_end_ns) {
  if (dispatch_ns != 0) monitor_.OnDispatch(dispatch_ns);
  if (frame_end_ns != 0) monitor_.OnFrame(frame_end_ns);
}

std::optional<SealRequest> StartupWatch::Look(uint64_t now_ns, uint64_t in_front_ns,
                                              const StartupThresholds& thresholds) {
  const bool in_front = in_front_ns != 0;
  if (in_front != in_front_) monitor_.OnForeground(in_front, now_ns - in_front_ns);
  in_front_ = in_front;
  const uint64_t drawn_ns = g_drawn_ns.load(std::memory_order_relaxed);
  if (drawn_ns != seen_drawn_ns_) monitor_.OnDrawn(drawn_ns);
  seen_drawn_ns_ = drawn_ns;
  const std::optional<StartupTimes> times = monitor_.TakeFinished(now_ns);
  if (!times || !StartupMonitor::TooSlow(*times, thresholds)) return std::nullopt;
  return RequestOf(*times);
}

}  // namespace jankbox

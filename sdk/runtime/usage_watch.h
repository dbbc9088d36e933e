// The watcher's part in counting how much the app is used (docs/formats/counts.md): how long it was
// in front, and in how many sessions, goes into the ring once a second. The sealing thread is asked
// to count it each hour and when the day changes. Watcher thread; NO-ALLOC but for
// Begin().
#ifndef JANKBOX_SDK_RUNTIME_USAGE_WATCH_H_
#define JANKBOX_SDK_RUNTIME_USAGE_WATCH_H_

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "monitors/incident/held_time.h"
#include "tracer/ring/ring_file.h"

namespace jankbox {

// A return to the front within this time goes on with the session, as in Google Analytics.
inline constexpr uint64_t kSessionGapNs = 30 * 60 * kNsPerSecond;
inline constexpr uint64_t kCountUsageEveryNs = 3600 * kNsPerSecond;

struct UsageMoment {
  uint64_t boottime_ns = 0;
  uint64_t day = 0;  // UTC, since 1970
  bool in_front = false;
  uint64_t total_in_front_ns = 0;  // as TotalInFrontNs()

  // Now, which is `now_ns` on CLOCK_MONOTONIC.
  static UsageMoment Read(uint64_t now_ns);
};

class UsageWatch {
 public:
  // `count`: what the ring has is to be counted.
  UsageWatch(RingFile* ring, std::function<void()> count) : ring_(ring), count_(std::move(count)) {}

  // The recording begins.
  void Begin(const UsageMoment& now);
  // Stretches in which the process was stopped, since the last look.
  void NoteHolds(std::span<const Hold> holds);
  void Look(const UsageMoment& now);

  // Of this process: forgets when it was in front last. For tests.
  static void ForgetSession();

 private:
  RingFile* const ring_;
  const std::function<void()> count_;
  uint64_t from_in_front_ns_ = 0;  // total_in_front_ns when the recording began
  uint64_t held_ns_ = 0;
  uint64_t foreground_ns_ = 0;
  uint64_t sessions_ = 0;
  uint64_t day_ = 0;  // of the last look
  uint64_t counted_boottime_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_USAGE_WATCH_H_

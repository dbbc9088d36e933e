// Calibration of the trace clock (decision 3): markers that carry our clocks' readings, written
// into Jankbox's instance, whose kernel stamps are found when the buffer is read.
#ifndef JANKBOX_TRACER_FTRACE_CLOCK_MARKERS_H_
#define JANKBOX_TRACER_FTRACE_CLOCK_MARKERS_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "tracer/clock/tick_clock.h"

namespace jankbox {

// Writes markers and remembers between which ticks each was written. THREAD-SAFE; no allocation
// after construction.
class ClockMarkers {
 public:
  // `path`: the instance's trace_marker.
  ClockMarkers(std::string path, TickSource source) : path_(std::move(path)), source_(source) {}

  // One marker; up to three, until one was written within kGoodNs. False if none could be.
  bool Write(double ns_per_tick);

  struct Written {
    uint64_t before = 0;  // ticks
    uint64_t after = 0;
  };
  // False if `text` is not one of these markers, or is too old.
  bool Find(std::string_view text, Written* written) const;

 private:
  static constexpr size_t kKept = 1024;  // at one a second beyond the longest window
  static constexpr double kGoodNs = 5'000;

  const std::string path_;
  const TickSource source_;
  mutable Mutex mutex_;
  uint64_t next_ GUARDED_BY(mutex_) = 1;
  std::array<Written, kKept> written_ GUARDED_BY(mutex_) = {};
};

// From the trace clock's stamps to ticks: a line between each two markers. A value.
class KernelClock {
 public:
  struct Point {
    uint64_t stamp = 0;
    uint64_t before = 0;  // ticks; the stamp was taken between the two
    uint64_t after = 0;

    uint64_t middle() const { return before + (after - before) / 2; }
  };

  // `points` in any order; `ticks_per_stamp` is the slope before the first and after the last.
  KernelClock(std::vector<Point> points, double ticks_per_stamp);

  bool known() const { return !points_.empty(); }
  uint64_t ToTicks(uint64_t stamp) const;

  // Half the widest reading around the markers that [from_stamp, to_stamp] rests on, in ticks.
  uint64_t ErrorTicks(uint64_t from_stamp, uint64_t to_stamp) const;

 private:
  std::vector<Point> points_;
  double ticks_per_stamp_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_CLOCK_MARKERS_H_

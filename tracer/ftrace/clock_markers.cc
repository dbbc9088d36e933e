#include "tracer/ftrace/clock_markers.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/compact_sort.h"
#include "base/scoped_fd.h"

namespace jankbox {
namespace {

constexpr int kMaxTries = 3;
constexpr char kFormat[] = "jankbox clock %" PRIu64 " ticks %" PRIu64 " monotonic %" PRIu64 "\n";

}  // namespace

bool ClockMarkers::Write(double ns_per_tick) {
  // Opened each time: a descriptor kept open would be inherited over fork() and keep the instance.
  ScopedFd fd(open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return false;
  bool any = false;
  for (int i = 0; i < kMaxTries; ++i) {
    MutexLock lock(&mutex_);
    char text[128];
    const uint64_t monotonic_ns = MonotonicNs();
    const int length =
        snprintf(text, sizeof(text), kFormat, next_, ReadTicks(source_), monotonic_ns);
    Written written;
    written.before = ReadTicks(source_);
    const ssize_t n = write(fd.get(), text, static_cast<size_t>(length));
    written.after = ReadTicks(source_);
    if (n != length) break;
    written_[next_++ % kKept] = written;
    any = true;
    if (static_cast<double>(written.after - written.before) * ns_per_tick < kGoodNs) break;
  }
  return any;
}

bool ClockMarkers::Find(std::string_view text, Written* written) const {
  char copy[128] = {};
  memcpy(copy, text.data(), std::min(text.size(), sizeof(copy) - 1));
  uint64_t number = 0, ticks = 0, monotonic_ns = 0;
  if (sscanf(copy, kFormat, &number, &ticks, &monotonic_ns) != 3) return false;
  MutexLock lock(&mutex_);
  if (number == 0 || number >= next_ || next_ - number > kKept) return false;
  *written = written_[number % kKept];
  return true;
}

KernelClock::KernelClock(std::vector<Point> points, double ticks_per_stamp)
    : points_(std::move(points)), ticks_per_stamp_(ticks_per_stamp) {
  CompactSort(&points_, [](const Point& a, const Point& b) { return a.stamp < b.stamp; });
}

uint64_t KernelClock::ToTicks(uint64_t stamp) const {
  const auto later =
      std::lower_bound(points_.begin(), points_.end(), stamp,
                       [](const Point& point, uint64_t wanted) { return point.stamp < wanted; });
  const bool outside = later == points_.begin() || later == points_.end();
  const Point& base = later == points_.begin() ? *later : *(later - 1);
  double slope = ticks_per_stamp_;
  if (!outside && later->stamp > base.stamp) {
    slope = static_cast<double>(later->middle() - base.middle()) /
            static_cast<double>(later->stamp - base.stamp);
  }
  const double since = static_cast<double>(static_cast<int64_t>(stamp - base.stamp));
  return base.middle() + static_cast<uint64_t>(std::llround(since * slope));
}

uint64_t KernelClock::ErrorTicks(uint64_t from_stamp, uint64_t to_stamp) const {
  uint64_t widest = 0;
  for (size_t i = 0; i < points_.size(); ++i) {
    const bool next_is_early = i + 1 < points_.size() && points_[i + 1].stamp < from_stamp;
    const bool last_was_late = i > 0 && points_[i - 1].stamp > to_stamp;
    if (next_is_early || last_was_late) continue;
    widest = std::max(widest, points_[i].after - points_[i].before);
  }
  return (widest + 1) / 2;
}

}  // namespace jankbox

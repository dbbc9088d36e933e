#include "tools/merge/clock_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace jankbox::tools {
namespace {

// A clock_gettime() and the kernel's own reading of the same clock.
constexpr uint64_t kDirectErrorNs = 1'000;
// From a reading of our clock to the kernel's stamp of the marker: a system call.
constexpr uint64_t kMarkerWriteNs = 5'000;
// A measurement that is less sure says nothing of which clock it was.
constexpr uint64_t kSureClockNs = 100'000;
constexpr uint64_t kWrongClockNs = 1'000'000;
// The kernel's own clocks (sched_clock) count from about the same moment as MONOTONIC, within a
// second, and NTP pulls MONOTONIC away by 500 ppm at most (adjtimex(2), MAXFREQ).
constexpr uint64_t kStartErrorNs = 1'000'000'000;
constexpr uint64_t kMaxSlew = 2000;  // 1 / 500 ppm
constexpr size_t kMinPairsForSlope = 8;
constexpr uint64_t kMinSpanForSlopeNs = 2'000'000'000;  // 10 us of noise are 5 ppm then
constexpr double kMaxSlope = 0.001;

uint64_t Distance(int64_t a, int64_t b) { return static_cast<uint64_t>(a < b ? b - a : a - b); }

int64_t OffsetOf(const ClockPair& pair) {
  return static_cast<int64_t>(pair.boottime_ns - pair.stamp);
}

// Least squares of the offsets over time.
double SlopeOf(const std::vector<ClockPair>& pairs) {
  const auto ends = std::minmax_element(pairs.begin(), pairs.end(),
                                        [](auto& a, auto& b) { return a.stamp < b.stamp; });
  const auto first = ends.first, last = ends.second;
  if (pairs.size() < kMinPairsForSlope || last->stamp - first->stamp < kMinSpanForSlopeNs) return 1;
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  const double count = static_cast<double>(pairs.size());
  const auto x_of = [&](const ClockPair& pair) {
    return static_cast<double>(pair.stamp - first->stamp);
  };
  const auto y_of = [&](const ClockPair& pair) {
    return static_cast<double>(OffsetOf(pair) - OffsetOf(*first));
  };
  for (const ClockPair& pair : pairs) {
    mean_x += x_of(pair) / count;
    mean_y += y_of(pair) / count;
  }
  for (const ClockPair& pair : pairs) {
    xx += (x_of(pair) - mean_x) * (x_of(pair) - mean_x);
    xy += (x_of(pair) - mean_x) * (y_of(pair) - mean_y);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  return std::abs(slope) < kMaxSlope ? 1 + slope : 1;
}

class Fitter {
 public:
  explicit Fitter(const FitQuestion& question)
      : question_(question), app_(*question.app), facts_(*question.facts) {
    if (app_.clocks.monotonic_ns != 0) {
      mono_offset_ = static_cast<int64_t>(app_.clocks.boottime_ns - app_.clocks.monotonic_ns);
    }
  }

  ClockFit Fit() {
    ClockFit fit;
    const bool by_markers = ByMarkers(&fit);
    if (IsDirect(question_.clock)) {
      const ClockFit direct = Direct(question_.clock);
      if (!by_markers || Agree(direct, fit)) return direct;
      fit.remark = "the file says " + question_.clock + ", its markers disagree";
    }
    if (!by_markers && !BySchedule(&fit)) return Nearest();
    Name(&fit);
    return fit;
  }

 private:
  static bool IsDirect(const std::string& clock) { return clock == "mono" || clock == "boot"; }
  int64_t OffsetOfClock(const std::string& clock) const {
    return clock == "boot" ? 0 : mono_offset_;
  }

  ClockFit Direct(const std::string& clock) const {
    ClockFit fit{.clock = clock, .method = FitMethod::kDirect};
    fit.stamp = facts_.first_stamp;
    fit.boottime_ns = fit.stamp + static_cast<uint64_t>(OffsetOfClock(clock));
    fit.bound_ns = kDirectErrorNs + question_.resolution_ns + question_.app_error_ns;
    return fit;
  }

  // Apart by no more than clocks that are the same may be. In the middle of the capture.
  bool Agree(const ClockFit& a, const ClockFit& b) const {
    const uint64_t middle = facts_.first_stamp + (facts_.last_stamp - facts_.first_stamp) / 2;
    return Distance(static_cast<int64_t>(a.ToBoottime(middle)),
                    static_cast<int64_t>(b.ToBoottime(middle))) < kWrongClockNs + b.bound_ns;
  }

  bool ByMarkers(ClockFit* fit) const {
    std::vector<ClockPair> pairs;
    for (const ClockPair& pair : facts_.clock_pairs) {
      if (pair.of_app) pairs.push_back(pair);
    }
    if (pairs.empty()) pairs = facts_.clock_pairs;
    FitMethod method = FitMethod::kClockMarks;
    if (pairs.empty()) {
      pairs = VoteForPairs(app_, facts_);
      method = FitMethod::kMarkers;
    }
    if (pairs.empty()) return false;
    *fit = FitPairs(pairs, question_.resolution_ns);
    fit->method = method;
    fit->bound_ns += kMarkerWriteNs + question_.app_error_ns;
    return true;
  }

  bool BySchedule(ClockFit* fit) const {
    for (const char* clock : {"mono", "boot"}) {
      OffsetRange range;
      if (!FitSchedule(app_, facts_, OffsetOfClock(clock), NearestError(), &range)) continue;
      fit->method = FitMethod::kSchedule;
      fit->stamp = facts_.first_stamp;
      const int64_t middle = range.low + (range.high - range.low) / 2;
      fit->boottime_ns = fit->stamp + static_cast<uint64_t>(middle);
      fit->bound_ns = static_cast<uint64_t>(range.high - range.low) / 2 + question_.resolution_ns +
                      question_.app_error_ns;
      fit->evidence = range.events;
      return true;
    }
    return false;
  }

  // The clock that a measured offset shows, if the file states none: its own reading is better
  // than the measurement. A stated clock is believed: clocks of the kernel's own come close to
  // MONOTONIC, and pass it.
  void Name(ClockFit* fit) const {
    fit->clock = question_.clock.empty() ? "unknown" : question_.clock;
    if (!question_.clock.empty() && !IsDirect(question_.clock)) return;
    const int64_t offset = static_cast<int64_t>(fit->ToBoottime(facts_.first_stamp)) -
                           static_cast<int64_t>(facts_.first_stamp);
    for (const char* clock : {"mono", "boot"}) {
      if (Distance(offset, OffsetOfClock(clock)) > kDirectErrorNs + fit->bound_ns) continue;
      if (fit->bound_ns >= kSureClockNs) continue;
      if (!question_.clock.empty() && question_.clock != clock) {
        fit->remark = "the file says " + question_.clock + ", its events use " + clock;
      }
      const uint64_t evidence = fit->evidence;
      const std::string remark = fit->remark;
      *fit = Direct(clock);
      fit->evidence = evidence;
      fit->remark = remark;
      return;
    }
  }

  uint64_t NearestError() const { return kStartErrorNs + facts_.last_stamp / kMaxSlew; }

  // How far apart the capture and the app's trace are, as `fit` has it; 0 if they overlap.
  uint64_t Gap(const ClockFit& fit) const {
    const uint64_t first = fit.ToBoottime(facts_.first_stamp);
    const uint64_t last = fit.ToBoottime(facts_.last_stamp);
    if (first > app_.last_ns) return first - app_.last_ns;
    return last < app_.first_ns ? app_.first_ns - last : 0;
  }

  ClockFit Nearest() const {
    const ClockFit mono = Direct("mono");
    const ClockFit boot = Direct("boot");
    ClockFit fit = Gap(boot) < Gap(mono) ? boot : mono;
    fit.clock = question_.clock.empty() ? "unknown" : question_.clock;
    fit.method = FitMethod::kNearest;
    fit.bound_ns = NearestError();
    return fit;
  }

  const FitQuestion& question_;
  const AppTrace& app_;
  const CaptureFacts& facts_;
  int64_t mono_offset_ = 0;  // BOOTTIME - MONOTONIC
};

}  // namespace

const char* FitMethodName(FitMethod method) {
  switch (method) {
    case FitMethod::kDirect:
      return "clock";
    case FitMethod::kClockMarks:
      return "clock markers";
    case FitMethod::kMarkers:
      return "markers on both sides";
    case FitMethod::kSchedule:
      return "schedule";
    case FitMethod::kRealtime:
      return "wall clock";
    case FitMethod::kNearest:
      return "nearest clock";
    case FitMethod::kUnaligned:
      return "not aligned";
  }
  return "";
}

ClockFit FitClock(const FitQuestion& question) { return Fitter(question).Fit(); }

uint64_t ClockFit::ToBoottime(uint64_t at) const {
  const int64_t since = static_cast<int64_t>(at - stamp);
  const int64_t drift = std::llround(static_cast<double>(since) * (slope - 1));
  return boottime_ns + static_cast<uint64_t>(since + drift);
}

ClockFit FitPairs(const std::vector<ClockPair>& pairs, uint64_t resolution_ns) {
  ClockFit fit;
  fit.slope = SlopeOf(pairs);
  fit.evidence = pairs.size();
  fit.stamp = pairs[0].stamp;
  fit.boottime_ns = pairs[0].boottime_ns;
  std::vector<int64_t> residuals;
  for (const ClockPair& pair : pairs) {
    residuals.push_back(static_cast<int64_t>(pair.boottime_ns - fit.ToBoottime(pair.stamp)));
  }
  std::sort(residuals.begin(), residuals.end());
  const size_t last = residuals.size() - 1;
  const int64_t median = residuals[last / 2];
  // The kernel's stamp follows our reading, now sooner and now later: the soonest are the truest.
  fit.boottime_ns += static_cast<uint64_t>(residuals[last * 9 / 10]);
  for (int64_t& residual : residuals) residual = std::abs(residual - median);
  std::sort(residuals.begin(), residuals.end());
  fit.bound_ns = static_cast<uint64_t>(residuals[last * 9 / 10]) + resolution_ns;
  return fit;
}

}  // namespace jankbox::tools

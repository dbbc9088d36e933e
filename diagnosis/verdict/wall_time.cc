#include "diagnosis/verdict/wall_time.h"

#include <sys/syscall.h>

#include <algorithm>

#include "base/clock.h"
#include "base/compact_sort.h"
#include "diagnosis/verdict/verdict_line.h"
#include "diagnosis/verdict/wait_shares.h"

namespace jankbox {
namespace {

using State = ThreadSpan::State;
using Stretch = VerdictTimeline::Stretch;

// Two readings that agree on a wait this far apart report a short wait between them.
constexpr uint64_t kNearNs = 60 * kNsPerMs;
// Readings are late by up to a tick of the scheduler (10 ms at 100 Hz).
constexpr uint64_t kEnoughToldNs = 20 * kNsPerMs;
// A reading this close to a switch may be of the other side of it.
constexpr uint64_t kEdgeNs = 2 * kNsPerMs;

class Splitter {
 public:
  explicit Splitter(const WallTimeEvidence& evidence)
      : evidence_(evidence), line_(evidence.to_ns - evidence.from_ns) {
    for (const ThreadSpan& span : evidence.spans) {
      if (!Contradicted(span)) spans_.push_back(span);
    }
  }

  Verdict Split() {
    CompareWithReadings();
    uint64_t at = evidence_.from_ns;
    for (const ThreadSpan& span : spans_) {
      const uint64_t from = std::max(span.from_ns, at);
      const uint64_t to = std::min(span.to_ns, evidence_.to_ns);
      if (to <= from) continue;
      AddReadings(at, from);
      AddSpan(span, from, to);
      at = to;
    }
    AddReadings(at, evidence_.to_ns);
    CarveFaults();
    verdict_.uncounted_ns = Uncounted();
    verdict_.stretches = line_.Take();
    return std::move(verdict_);
  }

 private:
  // A time off the CPU, and what else is known of it.
  struct OffCpu {
    uint64_t from_ns = 0;
    uint64_t to_ns = 0;
    uint64_t off_ns = 0;  // of it; less if it also ran
    VerdictSource source = VerdictSource::kNothing;
    const ThreadSpan* span = nullptr;       // null: not reported by the kernel
    const ThreadReading* waited = nullptr;  // null: no reading saw it
    bool guessed = false;                   // `waited` is from beside it
  };

  // Kernels miss single switches, and then one span lasts as long as several: it is not believed
  // if the thread's own CPU time within it says something else, or if it was seen waiting while it
  // is said to have been able to run.
  bool Contradicted(const ThreadSpan& span) const {
    if (span.state == State::kRunnable && span.to_ns - span.from_ns > 2 * kEdgeNs &&
        ReadingIn(span.from_ns + kEdgeNs, span.to_ns - kEdgeNs) != nullptr) {
      return true;
    }
    uint64_t told_ns = 0, run_ns = 0;
    for (auto point = FirstPointFrom(span.from_ns); point != PointsEnd(); ++point) {
      const auto next = point + 1;
      if (next == PointsEnd() || next->time_ns > span.to_ns) break;
      if (!point->reading.sched_known || !next->reading.sched_known) continue;
      told_ns += next->time_ns - point->time_ns;
      run_ns += next->reading.run_ns - point->reading.run_ns;
    }
    if (told_ns < kEnoughToldNs) return false;
    return span.state == State::kRunning ? run_ns < told_ns / 8 : run_ns > told_ns / 2;
  }

  // In the part of the line that has begun, outside of the thread's calls.
  void Add(const VerdictShare& share) {
    verdict_.Add(share);
    line_.AddRest(share);
  }
  void Add(VerdictCause cause, VerdictSource source, uint64_t ns) {
    Add({.cause = cause, .source = source, .ns = ns});
  }

  // A time in which all was one thing.
  void AddPart(VerdictCause cause, uint64_t from, uint64_t to) {
    const VerdictShare share{.cause = cause, .source = evidence_.span_source, .ns = to - from};
    verdict_.Add(share);
    DrawPart(share, from, to);
  }
  void DrawPart(const VerdictShare& share, uint64_t from, uint64_t to) {
    if (to <= from) return;
    line_.BeginPart(from, to, {});
    line_.AddRest(share);
    line_.EndPart();
  }

  // It was off the CPU until `woken_ns`.
  void AddOffCpuPart(const OffCpu& off, uint64_t woken_ns) {
    if (off.off_ns == 0) return;
    line_.BeginPart(off.from_ns, woken_ns, evidence_.waits);
    AddOffCpu(off);
    line_.EndPart();
  }

  void AddSpan(const ThreadSpan& span, uint64_t from, uint64_t to) {
    if (span.state == State::kRunning) {
      CountFaults(from, to);
      AddPart(VerdictCause::kRunning, from, to);
    } else if (span.state == State::kRunnable) {
      AddPart(VerdictCause::kRunnable, from, to);
    } else {
      const uint64_t late_ns = std::min(late_ns_, to - from);
      const VerdictShare late{
          .cause = VerdictCause::kRunnable, .source = VerdictSource::kSchedstat, .ns = late_ns};
      verdict_.Add(late);
      OffCpu off{from, to, to - from - late_ns, evidence_.span_source, &span, ReadingIn(from, to),
                 false};
      if (off.waited == nullptr) {
        off.waited = ReadingBeside(from, to);
        off.guessed = off.waited != nullptr;
      }
      AddOffCpuPart(off, to - late_ns);
      DrawPart(late, to - late_ns, to);
    }
    if (span.state == State::kRunning && last_ != span.state) ++verdict_.switches;
    last_ = span.state;
  }

  // [from, to] by the readings, and unknown if there are none.
  void AddReadings(uint64_t from, uint64_t to) {
    if (to <= from) return;
    uint64_t at = from;
    if (evidence_.readings != nullptr) {
      for (const Stretch& stretch : evidence_.readings->Between(from, to)) {
        AddOffCpuPart({at, stretch.from_ns, stretch.from_ns - at}, stretch.from_ns);
        AddStretch(stretch);
        at = stretch.to_ns;
      }
    }
    AddOffCpuPart({at, to, to - at}, to);
  }

  void AddStretch(const Stretch& stretch) {
    const VerdictSource source =
        stretch.sched_known ? VerdictSource::kSchedstat : VerdictSource::kThreadState;
    // The state is the same for a thread that runs and for one that could.
    const char* words = stretch.sched_known ? nullptr : "on the CPU or waiting for one";
    line_.BeginPart(stretch.from_ns, stretch.to_ns, evidence_.waits);
    Add({.cause = VerdictCause::kRunning, .source = source, .ns = stretch.run_ns, .words = words});
    Add(VerdictCause::kRunnable, source, stretch.runnable_ns);
    AddOffCpu({stretch.from_ns, stretch.to_ns, stretch.off_ns, source, nullptr, stretch.waited});
    line_.EndPart();
    verdict_.switches += stretch.switches;
    faults_ns_ += std::min(stretch.faults * evidence_.fault_cost_ns, stretch.run_ns);
  }

  // How long the garbage collector kept it off the CPU. A thread that it stops is in a futex of the
  // virtual machine's: one that waited for a file anyway did not wait for the collector.
  uint64_t AddCollector(const OffCpu& off) {
    const ThreadReading* seen = off.guessed ? nullptr : off.waited;
    if (seen != nullptr && seen->syscall != SYS_futex) return 0;
    uint64_t ns = 0;
    for (const GcPause& pause : evidence_.gc_pauses) {
      const uint64_t from = std::max(pause.from_ns, off.from_ns);
      const uint64_t to = std::min(pause.to_ns, off.to_ns);
      if (to > from) ns += to - from;
    }
    ns = std::min(ns, off.off_ns);
    Add(VerdictCause::kGc, VerdictSource::kCollector, ns);
    return ns;
  }

  // The time in calls that the thread itself recorded; other data gives the rest.
  void AddOffCpu(OffCpu off) {
    off.off_ns -= AddCollector(off);
    if (off.off_ns == 0) return;
    uint64_t called = 0;
    const auto each = [&](auto visit) {
      for (const WaitSpan& wait : evidence_.waits) {
        const uint64_t from = std::max(wait.from_ns, off.from_ns);
        const uint64_t to = std::min(wait.to_ns, off.to_ns);
        if (to > from) visit(wait, to - from);
      }
    };
    each([&](const WaitSpan&, uint64_t ns) { called += ns; });
    // If it also ran, it may have done so inside of its calls: they share what is left.
    const double scale =
        called > off.off_ns ? static_cast<double>(off.off_ns) / static_cast<double>(called) : 1.0;
    uint64_t left = off.off_ns;
    each([&](const WaitSpan& wait, uint64_t ns) {
      VerdictShare share =
          ShareOfCall(wait.begin, off.span != nullptr && off.span->woken_by_process);
      share.estimate = share.estimate || off.source == VerdictSource::kNothing;
      SetPeer(PeerOf(off), &share);
      share.ns = std::min(left, static_cast<uint64_t>(static_cast<double>(ns) * scale));
      left -= share.ns;
      verdict_.Add(share);
      line_.AddAt(wait, share);
    });
    AddUncalled(off, left);
  }

  void AddUncalled(const OffCpu& off, uint64_t ns) {
    VerdictShare share;
    if (off.waited != nullptr) share = ShareOfReading(*off.waited);
    share.estimate = off.guessed;
    const bool told = off.waited != nullptr && share.cause != VerdictCause::kBlocked;
    if (!told && off.span != nullptr) {
      const VerdictShare seen = ShareOfState(*off.span, off.waited);
      if (seen.cause != VerdictCause::kBlocked || off.waited == nullptr) share = seen;
      if (share.source == VerdictSource::kNothing) share.source = off.source;
    } else if (off.waited == nullptr && off.source != VerdictSource::kNothing) {
      const bool by_schedstat = off.source == VerdictSource::kSchedstat;
      share.cause = by_schedstat ? VerdictCause::kBlocked : VerdictCause::kUnknown;
      share.source = by_schedstat ? off.source : VerdictSource::kNothing;
    }
    SetPeer(PeerOf(off), &share);
    share.ns = ns;
    Add(share);
  }

  const WaitPeer* PeerOf(const OffCpu& off) const {
    return off.waited == nullptr ? nullptr : evidence_.readings->PeerOf(*off.waited);
  }

  // The first reading in [from, to] that saw a wait; null if there is none.
  const ThreadReading* ReadingIn(uint64_t from, uint64_t to) const {
    for (auto point = FirstPointFrom(from); point != PointsEnd() && point->time_ns <= to; ++point) {
      if (IsWait(point->reading.wait)) return &point->reading;
    }
    return nullptr;
  }

  // The call on which the readings on both sides of a short wait agree.
  const ThreadReading* ReadingBeside(uint64_t from, uint64_t to) const {
    const auto after = FirstPointFrom(to);
    const auto first_inside = FirstPointFrom(from);
    if (after == PointsEnd() || first_inside == PointsBegin()) return nullptr;
    const VerdictTimeline::Point& before = *(first_inside - 1);
    const bool near = before.time_ns + kNearNs > from && after->time_ns < to + kNearNs;
    const bool agree = IsWait(before.reading.wait) && before.reading.wait == after->reading.wait &&
                       before.reading.syscall == after->reading.syscall &&
                       before.time_ns >= evidence_.from_ns && after->time_ns <= evidence_.to_ns;
    return near && agree ? &after->reading : nullptr;
  }

  using PointIterator = std::vector<VerdictTimeline::Point>::const_iterator;
  PointIterator PointsBegin() const { return Points().begin(); }
  PointIterator PointsEnd() const { return Points().end(); }
  const std::vector<VerdictTimeline::Point>& Points() const {
    static const std::vector<VerdictTimeline::Point> kNone;
    return evidence_.readings == nullptr ? kNone : evidence_.readings->points();
  }
  PointIterator FirstPointFrom(uint64_t time_ns) const {
    return std::lower_bound(PointsBegin(), PointsEnd(), time_ns,
                            [](const auto& point, uint64_t at) { return point.time_ns < at; });
  }

  // Each fault costs what one does, or less if the next one came sooner.
  void CountFaults(uint64_t from, uint64_t to) {
    const std::vector<uint64_t>& times = evidence_.fault_times;
    auto at = std::lower_bound(times.begin(), times.end(), from);
    for (; at != times.end() && *at < to; ++at) {
      const uint64_t next = at + 1 == times.end() ? to : std::min(at[1], to);
      faults_ns_ += std::min(next - *at, evidence_.fault_cost_ns);
    }
  }

  // Data of the readings about the time that the spans cover, which the spans do not have.
  void CompareWithReadings() {
    if (spans_.empty() || evidence_.readings == nullptr) return;
    const uint64_t from = std::max(spans_.front().from_ns, evidence_.from_ns);
    const uint64_t to = std::min(spans_.back().to_ns, evidence_.to_ns);
    uint64_t runnable_ns = 0;
    for (const Stretch& stretch : evidence_.readings->Between(from, to)) {
      runnable_ns += stretch.runnable_ns;
      if (evidence_.faults_told) continue;
      faults_ns_ += std::min(stretch.faults * evidence_.fault_cost_ns, stretch.run_ns);
    }
    // Own switches do not say when a thread was woken, only when it was back on a CPU.
    if (evidence_.span_source == VerdictSource::kOwnSwitches) FindLateness(runnable_ns);
  }

  // The rest of `runnable_ns` is at the ends of the waits, the same amount from each as far as it
  // lasts.
  void FindLateness(uint64_t runnable_ns) {
    std::vector<uint64_t> waits;
    for (const ThreadSpan& span : spans_) {
      const uint64_t from = std::max(span.from_ns, evidence_.from_ns);
      const uint64_t to = std::min(span.to_ns, evidence_.to_ns);
      if (to <= from) continue;
      if (span.state == State::kWaiting) waits.push_back(to - from);
      if (span.state == State::kRunnable) runnable_ns -= std::min(runnable_ns, to - from);
    }
    CompactSort(&waits);
    for (size_t i = 0; i < waits.size(); ++i) {
      late_ns_ = runnable_ns / (waits.size() - i);
      if (late_ns_ <= waits[i]) break;
      runnable_ns -= waits[i];
    }
  }

  // A fault is served on the CPU.
  void CarveFaults() {
    uint64_t left_ns = faults_ns_;
    for (VerdictShare& share : verdict_.shares) {
      if (share.cause != VerdictCause::kRunning) continue;
      const uint64_t part = std::min(left_ns, share.ns);
      share.ns -= part;
      left_ns -= part;
    }
    std::erase_if(verdict_.shares, [](const VerdictShare& share) { return share.ns == 0; });
    verdict_.Add({.cause = VerdictCause::kFault,
                  .source = VerdictSource::kFaultCount,
                  .estimate = true,
                  .ns = faults_ns_ - left_ns});
  }

  // Time on a CPU by the spans for which the thread's own CPU time did not grow.
  uint64_t Uncounted() const {
    int64_t ns = 0;
    for (auto next = FirstPointFrom(evidence_.from_ns); next != PointsEnd(); ++next) {
      if (next == PointsBegin()) continue;
      const auto point = next - 1;
      if (point->time_ns >= evidence_.to_ns) break;
      if (!point->reading.sched_known || !next->reading.sched_known) continue;
      ns += static_cast<int64_t>(RunningIn(point->time_ns, next->time_ns));
      ns -= static_cast<int64_t>(next->reading.run_ns - point->reading.run_ns);
    }
    return ns < static_cast<int64_t>(kEnoughToldNs) ? 0 : static_cast<uint64_t>(ns);
  }

  // Of the incident's part of [from, to], by the spans.
  uint64_t RunningIn(uint64_t from, uint64_t to) const {
    from = std::max(from, evidence_.from_ns);
    to = std::min(to, evidence_.to_ns);
    auto span = std::lower_bound(spans_.begin(), spans_.end(), from,
                                 [](const auto& each, uint64_t at) { return each.to_ns <= at; });
    uint64_t ns = 0;
    for (; span != spans_.end() && span->from_ns < to; ++span) {
      if (span->state != State::kRunning) continue;
      ns += std::min(span->to_ns, to) - std::max(span->from_ns, from);
    }
    return ns;
  }

  const WallTimeEvidence& evidence_;
  std::vector<ThreadSpan> spans_;  // that are believed
  Verdict verdict_;
  VerdictLine line_;
  State last_ = State::kRunning;
  uint64_t late_ns_ = 0;  // that the thread was woken before it was back on a CPU, of each wait
  uint64_t faults_ns_ = 0;
};

}  // namespace

Verdict SplitWallTime(const WallTimeEvidence& evidence) {
  if (evidence.to_ns <= evidence.from_ns) return {};
  return Splitter(evidence).Split();
}

}  // namespace jankbox

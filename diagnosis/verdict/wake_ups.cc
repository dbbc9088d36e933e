#include "diagnosis/verdict/wake_ups.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/compact_sort.h"
#include "diagnosis/verdict/blocking_calls.h"
#include "diagnosis/verdict/kernel_spans.h"
#include "diagnosis/verdict/waker_functions.h"
#include "tracer/snapshot/thread_lives.h"

namespace jankbox {
namespace {

using Evidence = WakeUp::Evidence;
using State = ThreadSpan::State;

constexpr size_t kMaxWaits = 32;
constexpr uint64_t kMinWaitNs = kNsPerMs;
// What the loop was woken for it handles soon.
constexpr uint64_t kBeforeMessageNs = kNsPerSecond;
constexpr uint64_t kLoopsOwnRunNs = kNsPerMs;
constexpr uint64_t kNearBeginNs = 5 * kNsPerMs;

bool IsAboutAMessage(ReportKind kind) {
  return kind == ReportKind::kSlowMessage || kind == ReportKind::kLag || kind == ReportKind::kAnr ||
         kind == ReportKind::kRecovered;
}

class Finder {
 public:
  Finder(const VerdictWindow& source, const SealRequest& request)
      : source_(source),
        request_(request),
        readings_(source.readings != nullptr ? *source.readings : request.readings) {}

  std::vector<WakeUp> Find() {
    const bool kernel =
        source_.kernel != nullptr && source_.kernel->source == KernelWindow::Source::kFtrace;
    if (!kernel || !AddKernelWaits()) {
      AddCalls();
      AddReadings();
    }
    KeepLongest();
    if (IsAboutAMessage(request_.kind) && !start_) FindLoopWrite();
    if (start_ && IsAboutAMessage(request_.kind)) waits_.push_back(*start_);
    CompactSort(&waits_, [](const WakeUp& a, const WakeUp& b) { return a.woken_ns < b.woken_ns; });
    return std::move(waits_);
  }

 private:
  bool IsInside(uint64_t woken_ns) const {
    return woken_ns > request_.begin_ns && woken_ns < request_.end_ns;
  }

  WakeUp ToWakeUp(const ThreadSpan& span, uint64_t offset_ns) const {
    WakeUp wake_up;
    wake_up.from_ns = span.from_ns - offset_ns;
    wake_up.woken_ns = wake_up.by_ns = span.to_ns - offset_ns;
    const std::vector<int32_t>& own = source_.kernel->own_threads;
    const bool is_own = std::find(own.begin(), own.end(), span.waker_tid) != own.end();
    wake_up.other_process = span.woken_by_process;
    if (is_own) wake_up.waker_tid = span.waker_tid;
    if (is_own || span.woken_by_process) wake_up.evidence = Evidence::kKernel;
    return wake_up;
  }

  // False if the kernel's events say nothing about the thread in the incident.
  bool AddKernelWaits() {
    const uint64_t offset_ns = source_.clock.MonotonicToBoottimeNs(0);
    const uint64_t since_ns =
        request_.begin_ns - std::min(request_.begin_ns, kBeforeMessageNs) + offset_ns;
    const uint64_t error_ns = source_.kernel->clock_error_ns;
    uint64_t ran_ns = 0;  // since the loop's wait
    bool known = false;
    for (const ThreadSpan& span :
         KernelSpans(*source_.kernel, request_.tid, since_ns, request_.end_ns + offset_ns)) {
      const uint64_t from_ns = span.from_ns - offset_ns;
      const uint64_t to_ns = span.to_ns - offset_ns;
      known = known || to_ns > request_.begin_ns;
      if (span.state == State::kRunning && from_ns < request_.begin_ns) {
        ran_ns += std::min(to_ns, request_.begin_ns) - from_ns;
      }
      if (span.state != State::kWaiting) continue;
      const WakeUp wake_up = ToWakeUp(span, offset_ns);
      // What ends at an edge of the incident is on the side on which it began, as far as the
      // kernel's clock differs from ours.
      const bool begins_before = from_ns + error_ns < request_.begin_ns;
      const bool begins_inside = from_ns + error_ns < request_.end_ns;
      const bool ends_before = to_ns <= request_.begin_ns + (begins_before ? error_ns : 0);
      const bool ends_inside = to_ns < request_.end_ns + (begins_inside ? error_ns : 0);
      if (ends_before) {
        start_ = wake_up;
        start_->starts = true;
        ran_ns = 0;
      } else if (ends_inside) {
        waits_.push_back(wake_up);
      }
    }
    if (ran_ns > kLoopsOwnRunNs || (start_ && start_->evidence == Evidence::kNone)) start_.reset();
    return known;
  }

  // The thread that had the lock when the wait was last looked at: others may have had it before.
  int32_t LastOwner(uint64_t from_ns, uint64_t to_ns, int32_t first_owner) const {
    int32_t owner = first_owner;
    for (const VerdictTimeline::Point& point : readings_.points()) {
      const bool seen = point.time_ns >= from_ns && point.time_ns <= to_ns;
      if (seen && point.reading.lock_owner_tid != 0) owner = point.reading.lock_owner_tid;
    }
    return owner;
  }

  void AddWait(uint64_t from_ns, uint64_t to_ns, Evidence evidence, int32_t tid) {
    if (!IsInside(to_ns)) return;
    WakeUp wake_up;
    wake_up.evidence = tid == 0 ? Evidence::kNone : evidence;
    wake_up.from_ns = from_ns;
    wake_up.by_ns = wake_up.woken_ns = to_ns;
    wake_up.waker_tid = tid;
    waits_.push_back(wake_up);
  }

  // Those that the thread recorded itself.
  void AddCalls() {
    for (const WaitSpan& call :
         BlockingCalls(*source_.window, request_.tid, source_.window->to_ticks, source_.clock)) {
      const bool joins = call.begin.what == WaitClass::kJoin;
      const bool locks = !joins && !IsFileWait(call.begin.what) && call.begin.owner_tid != 0;
      int32_t tid = joins ? call.begin.owner_tid : 0;
      if (locks) tid = LastOwner(call.from_ns, call.to_ns, call.begin.owner_tid);
      AddWait(call.from_ns, call.to_ns, joins ? Evidence::kJoined : Evidence::kLockOwner, tid);
    }
    calls_ = waits_.size();
  }

  // Those that two readings or more saw, beside what the thread recorded.
  void AddReadings() {
    const std::vector<VerdictTimeline::Point>& points = readings_.points();
    for (size_t first = 0, next = 0; first < points.size(); first = next) {
      for (next = first + 1; next < points.size(); ++next) {
        if (!IsSameWait(points[next - 1].reading, points[next].reading)) break;
      }
      if (next - first < 2 || next == points.size()) continue;
      const uint64_t from_ns = points[first].time_ns;
      const uint64_t to_ns = points[next].time_ns;
      const bool recorded = std::any_of(
          waits_.begin(), waits_.begin() + static_cast<ptrdiff_t>(calls_),
          [&](const WakeUp& call) { return call.from_ns < to_ns && call.woken_ns > from_ns; });
      if (!recorded) AddWait(from_ns, to_ns, Evidence::kLockOwner, LastOwner(from_ns, to_ns, 0));
    }
  }

  void KeepLongest() {
    std::erase_if(waits_,
                  [](const WakeUp& wait) { return wait.woken_ns - wait.from_ns < kMinWaitNs; });
    CompactSort(&waits_, [](const WakeUp& a, const WakeUp& b) {
      return a.woken_ns - a.from_ns > b.woken_ns - b.from_ns;
    });
    if (waits_.size() > kMaxWaits) waits_.resize(kMaxWaits);
  }

  // The loop read its descriptor when the incident's message began.
  void FindLoopWrite() {
    uint64_t nearest_ns = kNearBeginNs;
    for (const WindowThread& thread : source_.window->threads) {
      if (thread.tid != request_.tid) continue;
      for (const WindowChunk& chunk : thread.markers) {
        EventCursor cursor(chunk);
        EventRecord record;
        ThreadEvent event;
        while (cursor.Next(&record)) {
          const bool woken = record.kind == EventKind::kThread &&
                             DecodeThreadRecord(record, &event) &&
                             event.step == ThreadStep::kWoken && event.ticks <= record.ticks;
          if (woken) TakeLoopWrite(event, record.ticks, &nearest_ns);
        }
      }
    }
  }

  void TakeLoopWrite(const ThreadEvent& event, uint64_t read_ticks, uint64_t* nearest_ns) {
    const uint64_t read_ns = source_.clock.ToMonotonicNs(read_ticks);
    const uint64_t away_ns =
        std::max(read_ns, request_.begin_ns) - std::min(read_ns, request_.begin_ns);
    if (away_ns >= *nearest_ns) return;
    *nearest_ns = away_ns;
    start_ = WakeUp();
    start_->evidence = Evidence::kLoopWrite;
    start_->starts = true;
    start_->by_ns = source_.clock.ToMonotonicNs(event.ticks);
    start_->woken_ns = read_ns;
    start_->waker_tid = event.waker_tid;
  }

  const VerdictWindow& source_;
  const SealRequest& request_;
  const VerdictTimeline& readings_;
  std::vector<WakeUp> waits_;
  size_t calls_ = 0;             // of them are recorded calls
  std::optional<WakeUp> start_;  // the loop's own wait
};

// "thread decoder [1234]"
std::string ThreadWords(const std::string& name, int32_t tid) {
  return (name.empty() ? "" : name + " ") + "[" + std::to_string(tid) + "]";
}

std::string InFunction(const WakeUp& wake_up) {
  return wake_up.function.empty() ? "" : ", in " + wake_up.function;
}

std::string NoteOfWait(const WakeUp& wake_up) {
  const std::string thread = "thread " + ThreadWords(wake_up.waker, wake_up.waker_tid);
  switch (wake_up.evidence) {
    case Evidence::kKernel:
      return (wake_up.other_process ? "a thread of another process" : thread) + " woke it" +
             InFunction(wake_up);
    case Evidence::kLockOwner:
      return thread + ", which held the lock, released it" + InFunction(wake_up);
    case Evidence::kJoined:
      return thread + " ended";
    case Evidence::kLoopWrite:
    case Evidence::kNone:
      break;
  }
  return "";
}

}  // namespace

std::vector<WakeUp> FindWakeUps(const VerdictWindow& source, const SealRequest& request) {
  std::vector<WakeUp> wake_ups;
  if (request.tid == 0 || request.end_ns <= request.begin_ns) return wake_ups;
  wake_ups = Finder(source, request).Find();
  for (WakeUp& wake_up : wake_ups) {
    if (wake_up.waker_tid == 0) continue;
    const uint64_t ticks = source.clock.FromMonotonicNs(wake_up.by_ns);
    wake_up.waker = source.lives->NameAt(wake_up.waker_tid, ticks);
  }
  SetWakerFunctions(source, &wake_ups);
  return wake_ups;
}

std::vector<std::string> WakeUpNotes(const std::vector<WakeUp>& wake_ups, uint64_t duration_ns) {
  constexpr uint64_t kWorthANote = 5;  // a fifth of the incident
  std::vector<std::string> notes;
  const WakeUp* longest = nullptr;
  const auto length = [](const WakeUp& wait) { return wait.woken_ns - wait.from_ns; };
  for (const WakeUp& wake_up : wake_ups) {
    if (wake_up.starts) {
      const std::string by = wake_up.other_process
                                 ? "A thread of another process"
                                 : "Thread " + ThreadWords(wake_up.waker, wake_up.waker_tid);
      notes.push_back(by + " woke the loop for this message" + InFunction(wake_up) + ".");
    } else if (longest == nullptr || length(wake_up) > length(*longest)) {
      longest = &wake_up;
    }
  }
  const bool worth = longest != nullptr && longest->evidence != Evidence::kNone &&
                     length(*longest) >= duration_ns / kWorthANote;
  if (worth) {
    notes.push_back("The longest wait, " + std::to_string(length(*longest) / kNsPerMs) +
                    " ms, ended when " + NoteOfWait(*longest) + ".");
  }
  return notes;
}

std::vector<SnapshotWakeUp> TraceWakeUps(const std::vector<WakeUp>& wake_ups, int32_t tid,
                                         const std::string& name, const TickConverter& clock) {
  std::vector<SnapshotWakeUp> drawn;
  for (const WakeUp& wake_up : wake_ups) {
    if (wake_up.waker_tid == 0) continue;
    const std::string in = InFunction(wake_up);
    drawn.push_back(
        {.waker_tid = wake_up.waker_tid,
         .woken_tid = tid,
         .by_ns = clock.MonotonicToBoottimeNs(wake_up.by_ns),
         .woken_ns = clock.MonotonicToBoottimeNs(wake_up.woken_ns),
         .waker_text = "wakes " + ThreadWords(name, tid) + in,
         .woken_text = "woken by " + ThreadWords(wake_up.waker, wake_up.waker_tid) + in});
  }
  return drawn;
}

}  // namespace jankbox

#include "monitors/anr/anr_monitor.h"

#include <algorithm>
#include <utility>

namespace jankbox {
namespace {

// Two readings of the same begin, through two calibrations of the clock.
constexpr uint64_t kSameMomentNs = 2'000'000;

bool SameMoment(uint64_t a, uint64_t b) { return std::max(a, b) - std::min(a, b) <= kSameMomentNs; }

uint64_t Less(uint64_t value, uint64_t part) { return value - std::min(value, part); }

}  // namespace

AnrMonitor::AnrMonitor(const AnrLimits& limits, Refusals* refusals, IsTraced is_traced)
    : limits_(limits), refusals_(refusals), is_traced_(std::move(is_traced)) {}

uint64_t AnrMonitor::Judge(uint64_t elapsed_ns, const AnrFacts& facts,
                           std::optional<RefusalReason>* refused) const {
  // The system's own word for it is worth the lag's limit in front (Matrix: 2 s, 10 s).
  const uint64_t front_ns =
      facts.asked_by_signal ? std::min(limits_.lag_ns, limits_.anr_ns) : limits_.anr_ns;
  if (elapsed_ns + facts.held.beyond_ns < front_ns) return 0;
  const uint64_t sure_ns = Less(elapsed_ns, facts.held.held_ns() + facts.held.late_ns);
  const bool in_front = facts.in_front_ns >= front_ns;
  uint64_t limit_ns = 0;
  if (sure_ns >= limits_.background_ns) {
    limit_ns = limits_.background_ns;
  } else if (sure_ns >= front_ns && in_front) {
    limit_ns = front_ns;
  } else {
    *refused = sure_ns >= front_ns ? RefusalReason::kBackground : facts.held.Main();
    return 0;
  }
  if (!is_traced_()) return limit_ns;
  *refused = RefusalReason::kTraced;
  return 0;
}

void AnrMonitor::OnRunning(const RunningDispatch& running, const AnrFacts& facts, uint64_t now_ns,
                           SignalSink* sink) {
  const uint64_t elapsed_ns = Less(now_ns, running.begin_ns);
  const uint64_t active_ns = Less(elapsed_ns, facts.held.held_ns());
  if (active_ns >= std::max(limits_.lag_ns, limits_.slow_ns)) {
    sink->OnSignal({SignalKind::kLag, running.begin_ns, 0, running.what, 0, 0});
  }
  if (SameMoment(raised_begin_ns_, running.begin_ns)) return;
  // Once under a debugger, always: when it leaves, what it did to the program's time stays.
  if (refused_ && refused_->reason == RefusalReason::kTraced &&
      SameMoment(refused_->begin_ns, running.begin_ns)) {
    return;
  }
  std::optional<RefusalReason> refused;
  const uint64_t limit_ns = Judge(elapsed_ns, facts, &refused);
  if (limit_ns != 0) {
    limit_ns_ = limit_ns;
    raised_begin_ns_ = running.begin_ns;
    refused_.reset();
    sink->OnSignal({SignalKind::kAnr, running.begin_ns, 0, running.what, 0, 0});
  } else if (refused) {
    refused_ = Refused{running.begin_ns, *refused};
  }
}

void AnrMonitor::OnEnded(const SlowDispatch& slow, const AnrFacts& facts, SignalSink* sink) {
  const uint64_t elapsed_ns = Less(slow.end_ns, slow.begin_ns);
  const uint64_t active_ns = Less(elapsed_ns, facts.held.held_ns());
  const bool raised = SameMoment(raised_begin_ns_, slow.begin_ns);
  std::optional<RefusalReason> refused;
  const bool known = refused_ && SameMoment(refused_->begin_ns, slow.begin_ns);
  const bool traced = known && refused_->reason == RefusalReason::kTraced;
  const uint64_t limit_ns = raised || traced ? 0 : Judge(elapsed_ns, facts, &refused);
  if (limit_ns != 0) limit_ns_ = limit_ns;
  if (known) {
    if (!refused && limit_ns == 0 && !raised) refused = refused_->reason;
    refused_.reset();
  }
  // The thread found it slow by its own clock: only subtracted stops make it less than that.
  const bool less = facts.held.held_ns() != 0 && active_ns < limits_.slow_ns && !raised;
  SignalKind kind = SignalKind::kSlowMessage;
  if (raised || limit_ns != 0) {
    kind = SignalKind::kAnr;
  } else if (active_ns >= std::max(limits_.lag_ns, limits_.slow_ns)) {
    kind = SignalKind::kLag;
  }
  if (less && !refused) refused = facts.held.Main();
  if (refused) refusals_->Add(*refused, slow.end_ns);
  if (less) return;
  sink->OnSignal({kind, slow.begin_ns, slow.end_ns, slow.what, 0, 0});
}

void AnrMonitor::Settle(uint64_t running_begin_ns, uint64_t now_ns) {
  if (!refused_ || (running_begin_ns != 0 && SameMoment(refused_->begin_ns, running_begin_ns))) {
    return;
  }
  refusals_->Add(refused_->reason, now_ns);
  refused_.reset();
}

}  // namespace jankbox

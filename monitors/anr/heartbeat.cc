#include "monitors/anr/heartbeat.h"

#include <algorithm>

#include "base/clock.h"

namespace jankbox {
namespace {

// CPU time that the process's other threads may have used beside a stop: on so many CPUs while the
// watcher slept as planned or waited for a CPU, and at its edges.
constexpr uint64_t kOtherCpus = 4;
constexpr uint64_t kQuietNs = 10 * kNsPerMs;
constexpr uint64_t kSmallPart = 8;

uint64_t Less(uint64_t value, uint64_t part) { return value - std::min(value, part); }

}  // namespace

void Heartbeat::Found(RefusalReason reason, uint64_t from_ns, uint64_t to_ns, uint64_t beyond_ns) {
  if (found_ < holds_.size()) holds_[found_++] = {reason, from_ns, to_ns, beyond_ns};
}

bool Heartbeat::KnowsSleeper(const BeatReading& now) const {
  return now.sleeper.sleep != 0 && now.sleeper.sleep == last_.sleeper.sleep;
}

bool Heartbeat::WokeSleeper(const BeatReading& now) const {
  return KnowsSleeper(now) && now.sleeper.cpu_ns != last_.sleeper.cpu_ns;
}

// The watcher was off its CPU, not waiting for one, and not only in the sleep that it had planned.
// A stop just before that sleep may use it up: then the CPU was given up once, as for the sleep.
bool Heartbeat::WasStopped(const BeatReading& now) const {
  const uint64_t switches = now.voluntary - last_.voluntary;
  if (sleeps_ != 0 && switches > sleeps_) return !KnowsSleeper(now) || WokeSleeper(now);
  return switches > 0 && WokeSleeper(now);
}

void Heartbeat::Judge(const BeatReading& now) {
  const uint64_t elapsed_ns = now.monotonic_ns - last_.monotonic_ns;
  const uint64_t slept_ns = Less(now.boottime_ns - last_.boottime_ns, elapsed_ns);
  const uint64_t run_ns = now.run_ns - last_.run_ns;
  const bool sched_known = now.sched_known && last_.sched_known;
  const uint64_t late_ns = Less(elapsed_ns, planned_ns_);
  uint64_t starved_ns = sched_known ? std::min(now.runnable_ns - last_.runnable_ns, late_ns) : 0;
  uint64_t held_ns = Less(late_ns, starved_ns + run_ns);
  // While the process is stopped none of its threads runs. A watcher whose CPU was taken away from
  // below, by a hypervisor, or whose work is held up by a lock or a disk, sees the others go on.
  const uint64_t others_ns = Less(now.process_cpu_ns - last_.process_cpu_ns, run_ns);
  const uint64_t before_ns = kOtherCpus * (planned_ns_ + starved_ns) + held_ns / kSmallPart;
  const bool stopped = others_ns <= kQuietNs + before_ns && WasStopped(now);
  if (!stopped) {
    if (!sched_known) starved_ns = held_ns;
    held_ns = 0;
  }
  const uint64_t held_until_ns = Less(now.monotonic_ns, starved_ns);
  const bool suspended = slept_ns >= kStopBoundNs;
  const bool rested = stopped && rest_ns_ >= kStopBoundNs && (rests_ || WokeSleeper(now));
  const bool held = held_ns >= kStopBoundNs || suspended;
  const bool traced = stopped && (rested || held) && source_->Traced();  // which reads a file
  const RefusalReason reason = suspended ? RefusalReason::kSuspended
                               : traced  ? RefusalReason::kTraced
                                         : RefusalReason::kStopped;
  // A long sleep does not show when in it the stop was: all of it counts as stopped, up to now if a
  // signal or a request cut it short.
  const uint64_t rested_until_ns = last_.monotonic_ns + std::min(rest_ns_, elapsed_ns);
  if (rested && !suspended) Found(reason, last_.monotonic_ns, rested_until_ns, 0);
  if (held) {
    if (held_ns < kStopBoundNs) held_ns = 0;
    Found(reason, Less(held_until_ns, held_ns), held_until_ns, suspended ? slept_ns : 0);
    suspended_ = suspended_ || suspended;
  }
  if (starved_ns >= kLateBoundNs) {
    Found(RefusalReason::kWatcherLate, held_until_ns, now.monotonic_ns, 0);
  }
}

void Heartbeat::Take() {
  const BeatReading now = source_->Read();
  if (began_) Judge(now);
  began_ = true;
  last_ = now;
}

void Heartbeat::Sleeps(uint64_t planned_ns, bool rests) {
  found_ = 0;
  planned_ns_ = rest_ns_ = sleeps_ = 0;
  Take();
  planned_ns_ = rest_ns_ = planned_ns;
  sleeps_ = 1;
  rests_ = rests;
}

void Heartbeat::SleepsOn(uint64_t woken_ns, uint64_t planned_ns) {
  rest_ns_ = std::min(rest_ns_, Less(woken_ns, last_.monotonic_ns));
  planned_ns_ = rest_ns_ + planned_ns;
  if (planned_ns != 0) ++sleeps_;
}

uint64_t Heartbeat::Wakes() {
  Take();
  return last_.monotonic_ns;
}

std::span<const Hold> Heartbeat::TakeHolds() {
  const size_t found = found_;
  return {holds_.data(), found};
}

bool Heartbeat::TakeSuspended() {
  const bool suspended = suspended_;
  suspended_ = false;
  return suspended;
}

}  // namespace jankbox

#include "monitors/incident/verdict.h"

#include <algorithm>

namespace jankbox {
namespace {

void AddOffCpu(WaitClass wait, uint64_t ns, Verdict* verdict) {
  switch (wait) {
    case WaitClass::kLock:
      verdict->lock_ns += ns;
      break;
    case WaitClass::kDisk:
      verdict->disk_ns += ns;
      break;
    case WaitClass::kSleeping:
      verdict->sleeping_ns += ns;
      break;
    case WaitClass::kBlocked:
      verdict->blocked_ns += ns;
      break;
    case WaitClass::kNone:
    case WaitClass::kUnknown:
      verdict->unknown_ns += ns;
      break;
  }
}

bool IsWait(WaitClass wait) { return wait != WaitClass::kNone && wait != WaitClass::kUnknown; }

// What the thread waited for between two readings, as far as the two saw it.
WaitClass WaitBetween(const ThreadReading& before, const ThreadReading& after) {
  if (IsWait(after.wait)) return after.wait;
  if (IsWait(before.wait)) return before.wait;
  return after.sched_known ? WaitClass::kBlocked : WaitClass::kUnknown;
}

// The part `inside_ns` of a stretch of `length_ns` between two readings that know schedstat.
void AddScheduled(const ThreadReading& before, const ThreadReading& after, uint64_t inside_ns,
                  uint64_t length_ns, Verdict* verdict) {
  uint64_t run = after.run_ns - before.run_ns;
  uint64_t runnable = after.runnable_ns - before.runnable_ns;
  // Where only a part is inside: a thread that waited at its begin (idle in its loop) ran inside;
  // one that ran all along ran everywhere alike.
  if (inside_ns < length_ns && !IsWait(before.wait)) {
    const double share = static_cast<double>(inside_ns) / static_cast<double>(length_ns);
    run = static_cast<uint64_t>(static_cast<double>(run) * share);
    runnable = static_cast<uint64_t>(static_cast<double>(runnable) * share);
  }
  run = std::min(run, inside_ns);
  runnable = std::min(runnable, inside_ns - run);
  const uint64_t rest = inside_ns - run - runnable;
  verdict->running_ns += run;
  verdict->runnable_ns += runnable;
  if (!IsWait(before.wait) && !IsWait(after.wait)) {
    verdict->runnable_ns +=
        rest;  // it waits for a CPU right now: the kernel counts that when it gets one
  } else {
    AddOffCpu(WaitBetween(before, after), rest, verdict);
  }
}

// The part `inside_ns` of a stretch where only the states are known.
void AddUnscheduled(const ThreadReading& before, const ThreadReading& after, uint64_t inside_ns,
                    Verdict* verdict) {
  if (after.wait == WaitClass::kNone) {
    verdict->running_ns += inside_ns;
  } else {
    AddOffCpu(WaitBetween(before, after), inside_ns, verdict);
  }
}

}  // namespace

void Verdict::Add(const Verdict& part) {
  running_ns += part.running_ns;
  runnable_ns += part.runnable_ns;
  lock_ns += part.lock_ns;
  disk_ns += part.disk_ns;
  sleeping_ns += part.sleeping_ns;
  blocked_ns += part.blocked_ns;
  unknown_ns += part.unknown_ns;
  switches += part.switches;
  if (source.empty()) source = part.source;
}

void VerdictTimeline::Add(uint64_t now_ns, const ThreadReading& reading) {
  if (points_.size() >= kMaxPoints) {
    for (size_t i = 0; i < points_.size() / 2; ++i) points_[i] = points_[2 * i];
    points_.resize(points_.size() / 2);
  }
  points_.push_back({now_ns, reading});
}

void VerdictTimeline::Restart() {
  if (points_.size() > 1) points_.erase(points_.begin(), points_.end() - 1);
}

Verdict VerdictTimeline::Sum(uint64_t from_ns, uint64_t to_ns) const {
  Verdict verdict;
  if (to_ns <= from_ns) return verdict;
  uint64_t covered = 0;
  bool sched = false;
  for (size_t first = 0, last = 1; last < points_.size(); ++last) {
    const Point& after = points_[last];
    // While a thread runs or waits for a CPU, schedstat lags behind by up to a tick or by that
    // wait: a stretch goes on until the thread is seen waiting for something else, or to the end.
    const bool lags = after.reading.sched_known && !IsWait(after.reading.wait);
    if (lags && last + 1 < points_.size() && after.time_ns < to_ns) continue;
    const Point& before = points_[first];
    first = last;
    const uint64_t begin = std::max(before.time_ns, from_ns);
    const uint64_t end = std::min(after.time_ns, to_ns);
    if (end <= begin) continue;
    if (before.reading.sched_known && after.reading.sched_known) {
      AddScheduled(before.reading, after.reading, end - begin, after.time_ns - before.time_ns,
                   &verdict);
      verdict.switches += after.reading.switches - before.reading.switches;
      sched = true;
    } else {
      AddUnscheduled(before.reading, after.reading, end - begin, &verdict);
    }
    covered += end - begin;
  }
  verdict.unknown_ns += to_ns - from_ns - covered;
  if (covered != 0) verdict.source = sched ? "schedstat" : "thread states";
  return verdict;
}

std::string VerdictSentence(const Verdict& verdict, const std::string& function) {
  struct Share {
    uint64_t ns;
    const char* words;
  };
  const Share shares[] = {
      {verdict.running_ns, "on the CPU"},
      {verdict.runnable_ns, "ready to run while others had the CPU"},
      {verdict.lock_ns, "waiting for a lock (futex)"},
      {verdict.disk_ns, "waiting for the disk"},
      {verdict.sleeping_ns, "asleep"},
      {verdict.blocked_ns, "off the CPU for a reason not known"},
      {verdict.unknown_ns, "unaccounted for"},
  };
  const Share* largest =
      std::max_element(std::begin(shares), std::end(shares),
                       [](const Share& a, const Share& b) { return a.ns < b.ns; });
  const uint64_t total = std::max<uint64_t>(verdict.total_ns(), 1);
  std::string sentence =
      std::to_string((largest->ns * 100 + total / 2) / total) + " % " + largest->words;
  if (!function.empty()) sentence += " in " + function;
  return sentence;
}

}  // namespace jankbox

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

// The part `inside` of a stretch between two readings.
void AddStretch(const ThreadReading& before, const ThreadReading& after, uint64_t inside_ns,
                Verdict* verdict) {
  if (!after.sched_known || !before.sched_known) {
    if (after.wait == WaitClass::kNone) {
      verdict->running_ns += inside_ns;
    } else {
      AddOffCpu(WaitBetween(before, after), inside_ns, verdict);
    }
    return;
  }
  // Where only a part is inside, the thread was idle outside of it or busy with another message:
  // what it ran is counted inside as far as it fits there.
  const uint64_t run = std::min(after.run_ns - before.run_ns, inside_ns);
  const uint64_t runnable = std::min(after.runnable_ns - before.runnable_ns, inside_ns - run);
  verdict->running_ns += run;
  verdict->runnable_ns += runnable;
  AddOffCpu(WaitBetween(before, after), inside_ns - run - runnable, verdict);
}

}  // namespace

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
  for (size_t i = 1; i < points_.size(); ++i) {
    const uint64_t begin = std::max(points_[i - 1].time_ns, from_ns);
    const uint64_t end = std::min(points_[i].time_ns, to_ns);
    if (end <= begin) continue;
    const ThreadReading& after = points_[i].reading;
    AddStretch(points_[i - 1].reading, after, end - begin, &verdict);
    verdict.switches += after.switches - points_[i - 1].reading.switches;
    covered += end - begin;
    sched = sched || after.sched_known;
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
      {verdict.blocked_ns, "off the CPU, reason not known"},
      {verdict.unknown_ns, "doing nobody knows what"},
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

#include "diagnosis/verdict/cpu_causes.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace jankbox {
namespace {

constexpr uint64_t kWorthANote = 5;  // a fifth of the time

bool IsRunnable(const VerdictShare& share) { return share.cause == VerdictCause::kRunnable; }

// Off the CPU by schedstat alone.
bool HasNoWait(const VerdictShare& share) {
  return share.cause == VerdictCause::kBlocked && share.source == VerdictSource::kSchedstat;
}

// On the CPU by switches alone.
bool IsOnACpu(const VerdictShare& share) {
  return share.cause == VerdictCause::kRunning &&
         (share.source == VerdictSource::kFtrace || share.source == VerdictSource::kOwnSwitches);
}

// Takes up to `ns` from the shares that `is_of` chooses. Returns how much it took.
uint64_t TakeFrom(bool (*is_of)(const VerdictShare&), uint64_t ns, Verdict* verdict) {
  uint64_t left_ns = ns;
  for (VerdictShare& share : verdict->shares) {
    if (!is_of(share)) continue;
    const uint64_t part = std::min(left_ns, share.ns);
    share.ns -= part;
    left_ns -= part;
  }
  std::erase_if(verdict->shares, [](const VerdictShare& share) { return share.ns == 0; });
  return ns - left_ns;
}

// The same of the time on the CPU that the thread's own CPU time does not know.
uint64_t TakeUncounted(uint64_t ns, Verdict* verdict) {
  const uint64_t taken_ns = TakeFrom(IsOnACpu, std::min(ns, verdict->uncounted_ns), verdict);
  verdict->uncounted_ns -= taken_ns;
  return taken_ns;
}

}  // namespace

void ExplainRunnable(const CpuShortage& shortage, Verdict* verdict) {
  if (!shortage.known) return;
  uint64_t throttled_ns = 0;
  if (shortage.quota_permille != 0) {
    throttled_ns = TakeFrom(IsRunnable, shortage.throttled_ns, verdict);
    throttled_ns += TakeUncounted(shortage.throttled_ns - throttled_ns, verdict);
  }
  for (VerdictShare& share : verdict->shares) {
    if (IsRunnable(share) && shortage.overloaded()) share.overload = &shortage;
  }
  verdict->Add({.cause = VerdictCause::kRunnable,
                .source = VerdictSource::kCpuStat,
                .estimate = true,
                .ns = throttled_ns,
                .quota = &shortage});
  uint64_t stolen_ns = TakeFrom(HasNoWait, shortage.stolen_ns, verdict);
  stolen_ns += TakeUncounted(shortage.stolen_ns - stolen_ns, verdict);
  verdict->Add({.cause = VerdictCause::kRunnable,
                .source = VerdictSource::kStealTime,
                .estimate = true,
                .ns = stolen_ns,
                .words = kStolenPhrase});
}

std::string CpuNote(const CpuShortage& shortage, const Verdict& verdict) {
  uint64_t unexplained_ns = 0;
  for (const VerdictShare& share : verdict.shares) {
    const bool explained = share.quota != nullptr || share.words != nullptr;
    if (IsRunnable(share) && !explained) unexplained_ns += share.ns;
  }
  if (!shortage.known || unexplained_ns * kWorthANote < verdict.total_ns()) return "";
  if (!shortage.pressure_known) {
    return "The kernel does not report CPU pressure (/proc/pressure/cpu): whether the machine was "
           "overloaded is not known.";
  }
  if (!shortage.overloaded()) return "";
  char text[160];
  snprintf(text, sizeof(text),
           "The machine was overloaded: some task waited for a CPU in %" PRIu32
           " %% of the time (/proc/pressure/cpu), and the CPUs were idle for %" PRIu32 " %%.",
           (shortage.waiting_permille + 5) / 10, (shortage.idle_permille + 5) / 10);
  return text;
}

}  // namespace jankbox

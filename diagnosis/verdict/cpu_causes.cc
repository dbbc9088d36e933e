#include "diagnosis/verdict/cpu_causes.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace jankbox {
namespace {

constexpr uint64_t kWorthANote = 5;  // a fifth of the time

bool IsRunnable(const VerdictShare& share) { return share.cause == VerdictCause::kRunnable; }

}  // namespace

void ExplainRunnable(const CpuShortage& shortage, Verdict* verdict) {
  if (!shortage.known) return;
  uint64_t throttled_ns = 0;
  if (shortage.quota_permille != 0) {
    throttled_ns = std::min(shortage.throttled_ns, verdict->Of(VerdictCause::kRunnable));
  }
  uint64_t left_ns = throttled_ns;
  for (VerdictShare& share : verdict->shares) {
    if (!IsRunnable(share)) continue;
    const uint64_t part = std::min(left_ns, share.ns);
    share.ns -= part;
    left_ns -= part;
    if (shortage.overloaded()) share.overload = &shortage;
  }
  std::erase_if(verdict->shares, [](const VerdictShare& share) { return share.ns == 0; });
  verdict->Add({.cause = VerdictCause::kRunnable,
                .source = VerdictSource::kCpuStat,
                .estimate = true,
                .ns = throttled_ns,
                .quota = &shortage});
}

std::string CpuNote(const CpuShortage& shortage, const Verdict& verdict) {
  uint64_t unexplained_ns = 0;
  for (const VerdictShare& share : verdict.shares) {
    if (IsRunnable(share) && share.quota == nullptr) unexplained_ns += share.ns;
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

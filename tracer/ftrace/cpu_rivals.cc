#include "tracer/ftrace/cpu_rivals.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "tracer/ftrace/sched_stream.h"

namespace jankbox {
namespace {

constexpr uint64_t kWorthTellingNs = 100'000;

// A thread of the process that could run and does not.
struct Runnable {
  uint64_t since_ns = 0;
  const KernelEvent* taken = nullptr;  // the switch that took the CPU from it; null: it was woken
};

CpuRival Rival(int32_t tid, int32_t rival_tid, const char* name) {
  CpuRival rival;
  rival.tid = tid;
  rival.rival_tid = rival_tid;
  memcpy(rival.name, name, sizeof(rival.name) - 1);
  return rival;
}

}  // namespace

std::vector<CpuRival> FindCpuRivals(const std::function<bool(int32_t tid)>& is_ours,
                                    const std::vector<KernelEvent>& events) {
  std::map<int32_t, Runnable> runnable;
  std::vector<CpuRival> rivals;
  const auto add = [&](CpuRival rival, uint64_t from_ns, uint64_t to_ns) {
    if (rival.rival_tid == 0 || to_ns < from_ns + kWorthTellingNs) return;
    rival.from_ns = from_ns;
    rival.to_ns = to_ns;
    rival.own = is_ours(rival.rival_tid);
    rivals.push_back(rival);
  };
  for (const KernelEvent& event : events) {
    if (event.kind == KernelEventKind::kWaking && is_ours(event.wake.pid)) {
      runnable.try_emplace(event.wake.pid, Runnable{event.time});
    }
    if (event.kind != KernelEventKind::kSwitch) continue;
    const SwitchFields& sched = event.sched;
    if (is_ours(sched.prev_pid)) {
      runnable.erase(sched.prev_pid);
      if (StillRunnable(sched.prev_state)) runnable[sched.prev_pid] = {event.time, &event};
    }
    const auto back = runnable.find(sched.next_pid);
    if (back == runnable.end()) continue;
    const Runnable& waited = back->second;
    const CpuRival giver = Rival(back->first, sched.prev_pid, sched.prev_comm);
    if (waited.taken == nullptr || waited.taken->sched.next_pid == sched.prev_pid) {
      add(giver, waited.since_ns, event.time);
    } else {
      const uint64_t middle_ns = waited.since_ns + (event.time - waited.since_ns) / 2;
      const SwitchFields& taken = waited.taken->sched;
      add(Rival(back->first, taken.next_pid, taken.next_comm), waited.since_ns, middle_ns);
      add(giver, middle_ns, event.time);
    }
    runnable.erase(back);
  }
  return rivals;
}

}  // namespace jankbox

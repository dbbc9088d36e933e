#include "tracer/ftrace/sched_stream.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

namespace jankbox {
namespace {

// TASK_REPORT | TASK_REPORT_IDLE of linux/sched.h since 4.14: the states that are not runnable.
constexpr int64_t kNotRunnable = 0xff;

constexpr uint16_t kNoCpu = UINT16_MAX;  // of an event that is to be taken out

using Request = std::pair<uint32_t, uint64_t>;  // device, sector

void SetIdle(char (&comm)[kCommBytes], int32_t* tid, int32_t* priority) {
  strncpy(comm, "swapper", sizeof(comm));
  *tid = 0;
  *priority = 120;
}

class StreamMaker {
 public:
  explicit StreamMaker(const std::function<bool(int32_t)>& is_ours) : is_ours_(is_ours) {}

  bool Wanted(const KernelEvent& event) {
    switch (event.kind) {
      case KernelEventKind::kSwitch:
        return is_ours_(event.sched.prev_pid) || is_ours_(event.sched.next_pid);
      case KernelEventKind::kWaking:
      case KernelEventKind::kWakeupNew:
      case KernelEventKind::kExit:
        return is_ours_(event.wake.pid);
      case KernelEventKind::kNewTask:
      case KernelEventKind::kRename:
        return is_ours_(event.task.pid);
      case KernelEventKind::kBlockIssue:
        if (!is_ours_(event.tid)) return false;
        requests_.insert({event.block.dev, event.block.sector});
        return true;
      case KernelEventKind::kBlockComplete:
        return requests_.erase({event.block.dev, event.block.sector}) != 0;
      case KernelEventKind::kPageFault:
        return is_ours_(event.tid);
    }
    return false;
  }

  // Makes a switch go on if the last one on its CPU ended. REQUIRES events in order of time.
  void Join(KernelEvent* event) {
    if (event->kind == KernelEventKind::kWaking || event->kind == KernelEventKind::kWakeupNew) {
      woken_[event->wake.pid] = event->time;
    }
    if (event->kind != KernelEventKind::kSwitch) return;
    KernelEvent*& last = last_on_cpu_[event->cpu];
    if (last != nullptr && !InferArrival(last, *event)) CloseGap(&last->sched, &event->sched);
    last = event;
  }

  size_t missing() const { return missing_; }
  const std::vector<KernelEvent>& inferred() const { return inferred_; }

  // After the last switch of each CPU nothing is known.
  void Finish() {
    for (auto& [cpu, last] : last_on_cpu_) {
      if (!is_ours_(last->sched.next_pid) && !StillRunnable(last->sched.prev_state))
        LeaveIdle(last);
    }
  }

 private:
  static void LeaveIdle(KernelEvent* event) {
    SetIdle(event->sched.next_comm, &event->sched.next_pid, &event->sched.next_prio);
  }

  // If a thread of the process leaves a CPU that it was never seen to take: from its wake-up on.
  bool InferArrival(KernelEvent* last, const KernelEvent& next) {
    const int32_t tid = next.sched.prev_pid;
    if (last->sched.next_pid == tid || !is_ours_(tid)) return false;
    const auto woken = woken_.find(tid);
    if (woken == woken_.end() || woken->second <= last->time) return ForgetPreemption(last, tid);
    ++missing_;
    LeaveIdle(last);
    KernelEvent arrival;
    arrival.time = woken->second;
    arrival.cpu = next.cpu;
    SetIdle(arrival.sched.prev_comm, &arrival.sched.prev_pid, &arrival.sched.prev_prio);
    memcpy(arrival.sched.next_comm, next.sched.prev_comm, kCommBytes);
    arrival.sched.next_pid = tid;
    arrival.sched.next_prio = next.sched.prev_prio;
    inferred_.push_back(arrival);
    return true;
  }

  // Preempted on this CPU, and its return not reported: it ran on, as far as anybody knows.
  bool ForgetPreemption(KernelEvent* last, int32_t tid) {
    if (last->sched.prev_pid != tid || !StillRunnable(last->sched.prev_state)) return false;
    ++missing_;
    last->cpu = kNoCpu;
    return true;
  }

  void CloseGap(SwitchFields* last, SwitchFields* next) {
    const bool same = last->next_pid == next->prev_pid;
    if (!same && (is_ours_(last->next_pid) || is_ours_(next->prev_pid))) ++missing_;
    if (same && (is_ours_(last->next_pid) || StillRunnable(last->prev_state))) return;
    // A thread of the process left unseen: events were lost. Its slice ends here, as the next
    // began.
    SetIdle(last->next_comm, &last->next_pid, &last->next_prio);
    SetIdle(next->prev_comm, &next->prev_pid, &next->prev_prio);
    next->prev_state = 0;
  }

  const std::function<bool(int32_t)>& is_ours_;
  std::set<Request> requests_;
  std::map<uint16_t, KernelEvent*> last_on_cpu_;
  std::map<int32_t, uint64_t> woken_;  // by thread: when last
  std::vector<KernelEvent> inferred_;
  size_t missing_ = 0;
};

void SortByTime(std::vector<KernelEvent>* events) {
  std::stable_sort(events->begin(), events->end(),
                   [](const KernelEvent& a, const KernelEvent& b) { return a.time < b.time; });
}

}  // namespace

bool StillRunnable(int64_t prev_state) { return (prev_state & kNotRunnable) == 0; }

size_t MakeSchedStream(const std::function<bool(int32_t tid)>& is_ours,
                       std::vector<KernelEvent>* events) {
  SortByTime(events);
  StreamMaker maker(is_ours);
  std::erase_if(*events, [&](const KernelEvent& event) { return !maker.Wanted(event); });
  for (KernelEvent& event : *events) maker.Join(&event);
  maker.Finish();
  std::erase_if(*events, [](const KernelEvent& event) { return event.cpu == kNoCpu; });
  events->insert(events->end(), maker.inferred().begin(), maker.inferred().end());
  SortByTime(events);
  return maker.missing();
}

}  // namespace jankbox

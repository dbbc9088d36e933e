#include "diagnosis/verdict/kernel_spans.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>

#include "base/clock.h"
#include "base/compact_sort.h"
#include "base/file.h"
#include "tracer/ftrace/sched_stream.h"

namespace jankbox {
namespace {

using State = ThreadSpan::State;

constexpr int64_t kUninterruptible = 2;       // TASK_UNINTERRUPTIBLE of linux/sched.h
constexpr int64_t kStopped = 4 | 8;           // TASK_STOPPED and TASK_TRACED
constexpr unsigned kKernelThread = 0x200000;  // PF_KTHREAD
// perf's ring has room for 2,048 switches; if it came round, what was before its first is not
// known.
constexpr size_t kManyOwnSwitches = 1000;

// A user's process: a kernel thread that passes on data does not count.
bool IsUserThread(int32_t tid) {
  const std::string stat = ReadProcFile("/proc/" + std::to_string(tid) + "/stat", 512);
  const size_t paren = stat.rfind(')');
  unsigned flags = kKernelThread;
  if (paren == std::string::npos ||
      sscanf(stat.c_str() + paren + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1) {
    return false;
  }
  return (flags & kKernelThread) == 0;
}

class SpanMaker {
 public:
  SpanMaker(const KernelWindow& kernel, int32_t tid) : kernel_(kernel), tid_(tid) {}

  std::vector<ThreadSpan> Make() {
    // Of a window that lost events the time before the first one is not known.
    since_ns_ = kernel_.lost_events == 0 ? kernel_.from_ns : UINT64_MAX;
    for (const KernelEvent& event : kernel_.events) Take(event);
    if (known_) {
      if (state_ == State::kRunning) Close(kernel_.to_ns, State::kRunning);
      if (state_ != State::kRunning) CloseOffCpu(kernel_.to_ns);
    }
    return std::move(spans_);
  }

 private:
  void Take(const KernelEvent& event) {
    if (event.tid == tid_ && event.kind != KernelEventKind::kSwitch) Appear(event.time);
    switch (event.kind) {
      case KernelEventKind::kSwitch:
        if (event.sched.prev_pid == tid_) Leave(event);
        if (event.sched.next_pid == tid_) Arrive(event.time);
        break;
      case KernelEventKind::kWaking:
        if (event.wake.pid == tid_) Wake(event);
        break;
      case KernelEventKind::kBlockIssue:
        requests_ += event.tid == tid_ ? 1 : 0;
        break;
      case KernelEventKind::kBlockComplete:
        // Of another thread's request, too: then a request of this thread is counted as done too
        // early.
        requests_ -= requests_ > 0 ? 1 : 0;
        break;
      default:
        break;
    }
  }

  void Leave(const KernelEvent& event) {
    Appear(event.time);
    Close(event.time, State::kRunning);
    const bool runnable = StillRunnable(event.sched.prev_state);
    Begin(event.time, runnable ? State::kRunnable : State::kWaiting);
    waiting_.uninterruptible = (event.sched.prev_state & kUninterruptible) != 0;
    waiting_.stopped = (event.sched.prev_state & kStopped) != 0;
    waiting_.own_request = requests_ > 0;
  }

  void Arrive(uint64_t time_ns) {
    if (!known_ && woken_ns_ == 0) since_ns_ = time_ns;  // whatever was before
    // Seen to come while it was thought to run: when it left is not known, and the time left out.
    if (!known_ || state_ != State::kRunning) CloseOffCpu(time_ns);
    Begin(time_ns, State::kRunning);
  }

  // Seen on a CPU. If its arrival was not reported it came when it was woken, and if that was not
  // reported either, its time is unknown: it is omitted.
  void Appear(uint64_t time_ns) {
    if (!known_ || state_ == State::kRunning) return;
    const uint64_t came_ns = woken_ns_ != 0 ? woken_ns_ : time_ns;
    if (woken_ns_ != 0) CloseOffCpu(came_ns);
    Begin(came_ns, State::kRunning);
  }

  void Wake(const KernelEvent& event) {
    if (known_ && state_ == State::kRunnable) return;
    // The kernel wakes only what sleeps: since the wake-up before this one it came, ran and slept
    // again, unseen. That time is left out.
    if (woken_ns_ != 0 && state_ == State::kWaiting) {
      Close(woken_ns_, State::kWaiting);
      since_ns_ = event.time;
      waiting_ = {};
    }
    woken_ns_ = event.time;
    waker_tid_ = event.in_interrupt ? 0 : event.tid;
  }

  void Begin(uint64_t time_ns, State state) {
    known_ = true;
    since_ns_ = time_ns;
    state_ = state;
    woken_ns_ = 0;
    waiting_ = {};
  }

  void CloseOffCpu(uint64_t time_ns) {
    if (state_ == State::kRunnable) {
      Close(time_ns, State::kRunnable);
      return;
    }
    const bool woken = woken_ns_ != 0 && woken_ns_ <= time_ns;
    if (woken && !waiting_.stopped) {  // else whoever let it go on
      waiting_.woken_by_process = IsOtherProcess(waker_tid_);
      waiting_.waker_tid = waker_tid_;
    }
    Close(woken ? woken_ns_ : time_ns, State::kWaiting);
    if (woken) Close(time_ns, State::kRunnable);
  }

  void Close(uint64_t to_ns, State state) {
    if (to_ns > since_ns_) {
      ThreadSpan span = waiting_;
      span.from_ns = since_ns_;
      span.to_ns = to_ns;
      span.state = state;
      spans_.push_back(span);
    }
    since_ns_ = to_ns;
  }

  bool IsOtherProcess(int32_t tid) {
    if (tid == 0 || std::binary_search(own_threads_.begin(), own_threads_.end(), tid)) return false;
    const auto [known, added] = other_processes_.try_emplace(tid, false);
    if (added) known->second = IsUserThread(tid);
    return known->second;
  }

  static std::vector<int32_t> Sorted(std::vector<int32_t> tids) {
    CompactSort(&tids);
    return tids;
  }

  const KernelWindow& kernel_;
  const int32_t tid_;
  const std::vector<int32_t> own_threads_ = Sorted(kernel_.own_threads);
  std::map<int32_t, bool> other_processes_;
  std::vector<ThreadSpan> spans_;
  ThreadSpan waiting_;  // what is known of the wait that goes on
  uint64_t since_ns_ = 0;
  State state_ = State::kWaiting;
  bool known_ = false;  // a switch of the thread was seen
  uint64_t woken_ns_ = 0;
  int32_t waker_tid_ = 0;
  int requests_ = 0;  // of this thread at the disk
};

std::vector<ThreadSpan> OwnSwitchSpans(const KernelWindow& kernel, int32_t tid) {
  std::vector<ThreadSpan> spans;
  uint64_t at = kernel.from_ns;
  const auto switches = std::count_if(kernel.off_cpu.begin(), kernel.off_cpu.end(),
                                      [tid](const OffCpu& off) { return off.tid == tid; });
  bool known = static_cast<size_t>(switches) < kManyOwnSwitches;
  for (const OffCpu& off : kernel.off_cpu) {
    if (off.tid != tid) continue;
    if (known && off.from_ns > at) spans.push_back({at, off.from_ns, State::kRunning});
    spans.push_back({off.from_ns, off.to_ns, off.preempted ? State::kRunnable : State::kWaiting});
    at = off.to_ns;
    known = true;
  }
  if (switches != 0 && at < kernel.to_ns) spans.push_back({at, kernel.to_ns, State::kRunning});
  return spans;
}

}  // namespace

std::vector<ThreadSpan> KernelSpans(const KernelWindow& kernel, int32_t tid, uint64_t from_ns,
                                    uint64_t to_ns) {
  std::vector<ThreadSpan> spans;
  if (kernel.source == KernelWindow::Source::kFtrace) spans = SpanMaker(kernel, tid).Make();
  if (kernel.source == KernelWindow::Source::kOwnSwitches) spans = OwnSwitchSpans(kernel, tid);
  std::erase_if(spans, [&](const ThreadSpan& span) {
    return span.to_ns <= from_ns || span.from_ns >= to_ns;
  });
  return spans;
}

std::string RivalsOf(const KernelWindow& kernel, int32_t tid, uint64_t from_ns, uint64_t to_ns) {
  std::map<int32_t, uint64_t> own;         // by tid
  std::map<std::string, uint64_t> others;  // by name
  uint64_t own_ns = 0, total_ns = 0;
  for (const CpuRival& rival : kernel.rivals) {
    const uint64_t from = std::max(rival.from_ns, from_ns);
    const uint64_t to = std::min(rival.to_ns, to_ns);
    if (rival.tid != tid || to <= from) continue;
    total_ns += to - from;
    if (rival.own) {
      own[rival.rival_tid] += to - from;
      own_ns += to - from;
    } else {
      others[rival.name] += to - from;
    }
  }
  std::string text;
  const uint64_t worth_naming = total_ns / 10;
  if (own_ns > worth_naming) {
    text = std::to_string(own.size()) + (own.size() == 1 ? " thread" : " threads") +
           " of this process";
  }
  std::string names;
  bool several = false;
  for (int named = 0; named < 2 && !others.empty(); ++named) {
    const auto most =
        std::max_element(others.begin(), others.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most->second <= worth_naming) break;
    several = !names.empty();
    names += (several ? ", '" : "'") + most->first + "'";
    others.erase(most);
  }
  if (!names.empty() && !text.empty()) text += ", ";
  if (!names.empty()) text += names + (several ? " of others" : " of another");
  return text;
}

}  // namespace jankbox

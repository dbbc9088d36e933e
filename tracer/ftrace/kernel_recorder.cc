#include "tracer/ftrace/kernel_recorder.h"

#include <algorithm>

#include "base/own_thread.h"
#include "tracer/ftrace/fault_cost.h"
#include "tracer/ftrace/ftrace_session.h"
#include "tracer/ftrace/switch_source.h"

namespace jankbox {
namespace {

// The times between switches out and in, within the window.
void AddOffCpu(int32_t tid, const std::vector<OwnSwitch>& switches, const TickConverter& clock,
               KernelWindow* window) {
  for (size_t i = 0; i < switches.size(); ++i) {
    if (!switches[i].out) continue;
    const bool back = i + 1 < switches.size();
    OffCpu off{tid, clock.MonotonicToBoottimeNs(switches[i].monotonic_ns), window->to_ns,
               switches[i].preempted};
    if (back) off.to_ns = clock.MonotonicToBoottimeNs(switches[i + 1].monotonic_ns);
    off.from_ns = std::max(off.from_ns, window->from_ns);
    off.to_ns = std::min(off.to_ns, window->to_ns);
    if (off.from_ns < off.to_ns) window->off_cpu.push_back(off);
  }
}

}  // namespace

KernelRecorder::KernelRecorder(const KernelRecorderOptions& options, TickSource tick_source)
    : options_(options), tick_source_(tick_source) {}

KernelRecorder::~KernelRecorder() = default;

std::string KernelRecorder::Start() {
  std::unique_ptr<FtraceSession> session;
  std::string reason = "switched off";
  if (options_.mode != FtraceMode::kOff) {
    Result<std::unique_ptr<FtraceSession>> started =
        FtraceSession::Start({options_.buffer_kib, options_.trace_clock, &given_up_}, tick_source_);
    if (started.ok()) session = std::move(started).value();
    reason = started.status().message();
  }
  MutexLock lock(&mutex_);
  ftrace_ = std::move(session);
  reason_ = reason;
  started_ = true;
  FollowWatched();
  return reason;
}

void KernelRecorder::WatchThread(int32_t tid) {
  MutexLock lock(&mutex_);
  std::erase_if(watched_, [&](int32_t known) { return known == tid; });
  watched_.push_back(tid);
  if (watched_.size() > kMaxWatched) watched_.erase(watched_.begin());
  if (started_) FollowWatched();
}

void KernelRecorder::FollowWatched() {
  if (options_.mode == FtraceMode::kOff) return;
  if (ftrace_ != nullptr) {
    ftrace_->WatchFaults(watched_);
    return;
  }
  std::erase_if(switches_, [this](const auto& source) {
    mutex_.AssertOwned();
    return std::find(watched_.begin(), watched_.end(), source->tid()) == watched_.end();
  });
  for (int32_t tid : watched_) {
    const bool open = std::any_of(switches_.begin(), switches_.end(),
                                  [&](const auto& source) { return source->tid() == tid; });
    if (open) continue;
    Result<std::unique_ptr<SwitchSource>> source = SwitchSource::Open(tid);
    if (source.ok()) {
      switches_.push_back(std::move(source).value());
    } else {
      no_switches_reason_ = source.status().message();
    }
  }
}

// With the event on, as the app's threads have it: writing it is a fifth of what a fault costs.
void KernelRecorder::MeasureFaultCost() {
  {
    MutexLock lock(&mutex_);
    std::vector<int32_t> with_this = watched_;
    with_this.push_back(CurrentTid());
    if (ftrace_ != nullptr) ftrace_->WatchFaults(with_this);
  }
  fault_cost_ns_ = MeasurePageFaultNs();
  MutexLock lock(&mutex_);
  if (ftrace_ != nullptr) ftrace_->WatchFaults(watched_);
}

void KernelRecorder::Mark() {
  MutexLock lock(&mutex_);
  if (ftrace_ != nullptr) ftrace_->Mark();
}

KernelWindow KernelRecorder::Read(uint64_t from_ticks, uint64_t to_ticks,
                                  const TickConverter& clock) {
  FtraceSession* session;
  {
    MutexLock lock(&mutex_);
    session = ftrace_.get();  // ended only by the thread that seals
  }
  KernelWindow window;
  if (session != nullptr) window = session->Read(from_ticks, to_ticks, clock);
  // Not at the start: a process without an incident never pays for it.
  if (fault_cost_ns_ == 0) MeasureFaultCost();
  window.page_fault_cost_ns = fault_cost_ns_;
  if (session != nullptr) return window;
  MutexLock lock(&mutex_);
  window.reason = reason_;
  window.from_ns = clock.ToBoottimeNs(from_ticks);
  window.to_ns = clock.ToBoottimeNs(to_ticks);
  if (switches_.empty()) {
    if (!no_switches_reason_.empty()) window.reason += "; " + no_switches_reason_;
    return window;
  }
  window.source = KernelWindow::Source::kOwnSwitches;
  for (const auto& source : switches_) AddOffCpu(source->tid(), source->Read(), clock, &window);
  return window;
}

void KernelRecorder::Stop() {
  std::unique_ptr<FtraceSession> session;
  MutexLock lock(&mutex_);
  session = std::move(ftrace_);
  switches_.clear();
  started_ = false;
}

}  // namespace jankbox

#include "tracer/ftrace/ftrace_session.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "base/recorded_process.h"
#include "tracer/ftrace/cpu_rivals.h"
#include "tracer/ftrace/sched_stream.h"
#include "tracer/ftrace/tracefs_file.h"

namespace jankbox {
namespace {

constexpr uint32_t kMaxBufferKib = 16 << 10;  // of all CPUs together
constexpr uint32_t kMinBufferKib = 64;        // a CPU
constexpr char kFaultEvent[] = "events/exceptions/page_fault_user/";

size_t CpuCount() { return static_cast<size_t>(std::max(sysconf(_SC_NPROCESSORS_CONF), 1l)); }

uint32_t BufferKib(uint32_t wanted) {
  const uint32_t share = kMaxBufferKib / static_cast<uint32_t>(CpuCount());
  return std::min(wanted, std::max(share, kMinBufferKib));
}

PrivateInstance::Settings ThreadSettings(const FtraceSessionOptions& options) {
  return {.buffer_kib = BufferKib(options.buffer_kib),
          .trace_clock = options.trace_clock,
          .own_threads_only = true,
          .events = {"sched/sched_switch", "sched/sched_waking"},
          .maybe_events = {"sched/sched_wakeup_new", "sched/sched_process_exit",
                           "task/task_newtask", "task/task_rename", "block/block_rq_issue"},
          .given_up = options.given_up};
}

PrivateInstance::Settings IoSettings(const FtraceSessionOptions& options,
                                     const std::string& trace_clock) {
  return {.buffer_kib = std::max(BufferKib(options.buffer_kib) / 2, kMinBufferKib),
          .trace_clock = trace_clock,
          .events = {},
          .maybe_events = {"block/block_rq_complete"},
          .given_up = options.given_up};
}

}  // namespace

Result<std::unique_ptr<FtraceSession>> FtraceSession::Start(const FtraceSessionOptions& options,
                                                            TickSource tick_source) {
  Result<std::string> tracefs = FindTracefs();
  if (!tracefs.ok()) return tracefs.status();
  RemoveDeadInstances(tracefs.value());
  Result<std::unique_ptr<EventReader>> reader = EventReader::Open(tracefs.value());
  if (!reader.ok()) return reader.status();
  Result<std::unique_ptr<PrivateInstance>> threads =
      PrivateInstance::Create(tracefs.value(), "", ThreadSettings(options));
  if (!threads.ok()) return threads.status();
  std::unique_ptr<FtraceSession> session(new FtraceSession({std::move(threads).value(), {}, {}},
                                                           std::move(reader).value(), tick_source));
  session->FindOwnThreads();
  Result<std::unique_ptr<PrivateInstance>> io = PrivateInstance::Create(
      tracefs.value(), "-io", IoSettings(options, session->threads_.instance->trace_clock()));
  if (io.ok()) session->io_.instance = std::move(io).value();
  if (options.given_up != nullptr && options.given_up->load()) {
    return Status(StatusCode::kUnavailable, "stopped meanwhile");
  }
  session->WatchFaults({});
  session->Mark();
  return session;
}

FtraceSession::FtraceSession(Buffer threads, std::unique_ptr<EventReader> reader,
                             TickSource tick_source)
    : tick_source_(tick_source),
      ns_per_tick_(MeasureNsPerTick(tick_source, 1)),
      threads_(std::move(threads)),
      reader_(std::move(reader)),
      markers_(threads_.instance->path() + "/trace_marker", tick_source) {}

void FtraceSession::WatchFaults(const std::vector<int32_t>& tids) {
  if (io_.instance == nullptr) return;
  std::string filter;
  for (int32_t tid : tids) {
    if (!filter.empty()) filter += " || ";
    filter += "common_pid == " + std::to_string(tid);
  }
  if (filter.empty()) filter = "common_pid == " + std::to_string(RecordedProcess::pid());
  Status status = io_.instance->Write(std::string(kFaultEvent) + "filter", filter);
  // Without its filter the event would report every process.
  if (status.ok()) (void)io_.instance->Write(std::string(kFaultEvent) + "enable", "1").ok();
}

// Threads that live now and those that the events saw being created; children that are processes
// are followed by the kernel too, and left out here.
void FtraceSession::FindOwnThreads() {
  Result<std::vector<std::string>> tasks =
      ListDirectory(std::string(RecordedProcess::folder()) + "/task");
  if (tasks.ok()) {
    for (const std::string& name : tasks.value()) {
      int32_t tid = 0;
      std::from_chars(name.data(), name.data() + name.size(), tid);
      own_threads_.insert(tid);
    }
  }
  for (const KernelEvent& event : events_) {
    if (event.kind != KernelEventKind::kNewTask || !own_threads_.contains(event.tid)) continue;
    if ((event.task.clone_flags & CLONE_THREAD) != 0) own_threads_.insert(event.task.pid);
  }
}

Status FtraceSession::TakeFrom(Buffer* buffer) {
  buffer->first_stamps.assign(CpuCount(), 0);
  if (buffer->instance == nullptr) return Status::Ok();
  EventReader::Sink sink;
  sink.event = [&](const KernelEvent& event) {
    if (event.cpu < buffer->first_stamps.size() && buffer->first_stamps[event.cpu] == 0) {
      buffer->first_stamps[event.cpu] = event.time;
    }
    events_.push_back(event);
  };
  sink.marker = [&](uint64_t stamp, std::string_view text) {
    ClockMarkers::Written written;
    if (markers_.Find(text, &written)) points_.push_back({stamp, written.before, written.after});
  };
  return reader_->Take(buffer->instance->name(), sink);
}

// Events that were overwritten before the window began are no loss: the buffers roll.
void FtraceSession::NoteLosses(Buffer* buffer, const KernelClock& kernel_clock, uint64_t from_ticks,
                               KernelWindow* window) {
  if (buffer->instance == nullptr) return;
  buffer->overruns.resize(CpuCount());
  for (uint32_t cpu = 0; cpu < buffer->overruns.size(); ++cpu) {
    const uint64_t overruns = buffer->instance->Overruns(cpu);
    const uint64_t lost = overruns - buffer->overruns[cpu];
    buffer->overruns[cpu] = overruns;
    const uint64_t first = buffer->first_stamps[cpu];
    if (lost == 0 || (first != 0 && kernel_clock.ToTicks(first) <= from_ticks)) continue;
    window->lost_events += lost;
    window->lossy_cpus.insert(static_cast<uint16_t>(cpu));
  }
}

KernelClock FtraceSession::Calibrate(const TickConverter& clock) const {
  const bool same_counter =
      threads_.instance->trace_clock() == "x86-tsc" && tick_source_ == TickSource::kTsc;
  return KernelClock(points_, same_counter ? 1.0 : 1.0 / clock.ns_per_tick());
}

void FtraceSession::Forget(uint64_t before_ticks, const KernelClock& kernel_clock) {
  kept_from_ticks_ = std::max(kept_from_ticks_, before_ticks);
  std::erase_if(events_, [&](const KernelEvent& event) {
    return kernel_clock.ToTicks(event.time) < before_ticks;
  });
  events_.shrink_to_fit();  // most windows are quiet
  // The last point before the window stays: the line begins there.
  const auto first_inside = std::find_if(points_.begin(), points_.end(), [&](const auto& point) {
    return point.after >= before_ticks;
  });
  if (first_inside - points_.begin() > 1) points_.erase(points_.begin(), first_inside - 1);
}

KernelWindow FtraceSession::Read(uint64_t from_ticks, uint64_t to_ticks,
                                 const TickConverter& clock) {
  KernelWindow window;
  from_ticks = std::clamp(kept_from_ticks_, from_ticks, std::max(from_ticks, to_ticks));
  window.from_ns = clock.ToBoottimeNs(from_ticks);
  window.to_ns = clock.ToBoottimeNs(to_ticks);
  window.trace_clock = threads_.instance->trace_clock();
  Mark();
  Status status = TakeFrom(&threads_);
  if (status.ok()) status = TakeFrom(&io_);
  const KernelClock kernel_clock = Calibrate(clock);
  if (status.ok() && !kernel_clock.known()) {
    status = Status(StatusCode::kNotFound, "no clock marker found in the buffer");
  }
  if (!status.ok()) {
    events_.clear();
    window.reason = status.message();
    return window;
  }
  window.source = KernelWindow::Source::kFtrace;
  FindOwnThreads();
  NoteLosses(&threads_, kernel_clock, from_ticks, &window);
  NoteLosses(&io_, kernel_clock, from_ticks, &window);
  Forget(from_ticks, kernel_clock);
  uint64_t first_stamp = UINT64_MAX, last_stamp = 0;
  for (const KernelEvent& event : events_) {
    const uint64_t ticks = kernel_clock.ToTicks(event.time);
    if (ticks > to_ticks) continue;
    first_stamp = std::min(first_stamp, event.time);
    last_stamp = std::max(last_stamp, event.time);
    window.events.push_back(event);
    window.events.back().time = clock.ToBoottimeNs(ticks);
  }
  const auto is_ours = [this](int32_t tid) { return own_threads_.contains(tid); };
  std::stable_sort(window.events.begin(), window.events.end(),
                   [](const KernelEvent& a, const KernelEvent& b) { return a.time < b.time; });
  window.rivals = FindCpuRivals(is_ours, window.events);
  window.untold_switches = MakeSchedStream(is_ours, &window.events);
  window.own_threads.assign(own_threads_.begin(), own_threads_.end());
  window.clock_error_ns = static_cast<uint64_t>(
      static_cast<double>(kernel_clock.ErrorTicks(first_stamp, last_stamp)) * clock.ns_per_tick());
  return window;
}

}  // namespace jankbox

#include "tracer/snapshot/kernel_tracks.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tracer/perfetto/ftrace_bundles.h"
#include "tracer/perfetto/track_descriptor.h"
#include "tracer/snapshot/annotated_slices.h"

namespace jankbox {
namespace {

constexpr uint64_t kBurstGapNs = 1'000'000;

// Viewers sort them: before and after "sampled stack".
constexpr std::string_view kOffCpuTrack = "off the CPU";
constexpr std::string_view kFaultTrack = "soft page faults (estimate)";

std::string_view SourceName(KernelWindow::Source source) {
  switch (source) {
    case KernelWindow::Source::kFtrace:
      return "ftrace";
    case KernelWindow::Source::kOwnSwitches:
      return "own context switches";
    case KernelWindow::Source::kNone:
      break;
  }
  return "none";
}

// When the process ended, if the kernel saw that; else the end of the window.
uint64_t EndOf(const KernelWindow& kernel, int32_t pid) {
  const std::set<int32_t> own(kernel.own_threads.begin(), kernel.own_threads.end());
  bool leader_ended = false;
  uint64_t last_exit_ns = 0, last_run_ns = 0;
  for (const KernelEvent& event : kernel.events) {
    if (event.kind == KernelEventKind::kExit && own.contains(event.wake.pid)) {
      leader_ended |= event.wake.pid == pid;
      last_exit_ns = event.time;
    }
    if (event.kind == KernelEventKind::kSwitch && own.contains(event.sched.next_pid)) {
      last_run_ns = event.time;
    }
  }
  const bool ended = leader_ended && last_exit_ns >= last_run_ns;
  return ended ? std::min(last_exit_ns, kernel.to_ns) : kernel.to_ns;
}

}  // namespace

std::vector<FaultBurst> FindFaultBursts(const std::vector<KernelEvent>& events, uint64_t cost_ns) {
  std::map<int32_t, std::vector<FaultBurst>> by_tid;
  for (const KernelEvent& event : events) {
    if (event.kind != KernelEventKind::kPageFault) continue;
    std::vector<FaultBurst>& bursts = by_tid[event.tid];
    if (bursts.empty() || event.time > bursts.back().to_ns + kBurstGapNs) {
      bursts.push_back({.tid = event.tid, .from_ns = event.time});
    }
    ++bursts.back().faults;
    bursts.back().to_ns = event.time + cost_ns;
  }
  std::vector<FaultBurst> all;
  for (const auto& [tid, bursts] : by_tid) all.insert(all.end(), bursts.begin(), bursts.end());
  for (FaultBurst& burst : all) {
    burst.estimated_ns = std::min(burst.faults * cost_ns, burst.to_ns - burst.from_ns);
  }
  return all;
}

void KernelTracks::WriteStates(const KernelWindow& kernel) {
  WriteSource(kernel);
  DescribeThreads(kernel);
  WriteOffCpu(kernel);
}

uint64_t KernelTracks::WriteEvents(const KernelWindow& kernel) {
  WriteFaults(kernel);
  return WriteFtraceBundles(writer_, kFtraceSequence, kernel);
}

// Threads that recorded nothing have no descriptor yet, and importers would not know their process.
void KernelTracks::DescribeThreads(const KernelWindow& kernel) {
  const std::set<int32_t> own(kernel.own_threads.begin(), kernel.own_threads.end());
  for (const KernelEvent& event : kernel.events) {
    if (event.kind != KernelEventKind::kSwitch) continue;
    for (int32_t tid : {event.sched.prev_pid, event.sched.next_pid}) {
      if (own.contains(tid)) tracks_->UuidOfTid(tid);
    }
  }
}

void KernelTracks::WriteSource(const KernelWindow& kernel) {
  const uint64_t uuid = TrackUuid(TrackKind::kKernelSource, pid_, 0);
  WriteTrack(
      writer_,
      {.uuid = uuid, .parent_uuid = tracks_->process_uuid(), .name = "Jankbox kernel events"});
  AnnotatedSlices(writer_, kKernelSourceSequence)
      .Write({uuid, kernel.from_ns, EndOf(kernel, pid_), SourceName(kernel.source)},
             [&](Annotations& annotations) {
               if (!kernel.reason.empty()) annotations.Text("reason", kernel.reason);
               if (kernel.source != KernelWindow::Source::kFtrace) return;
               annotations.Text("trace_clock", kernel.trace_clock);
               annotations.Number("clock_error_ns", static_cast<int64_t>(kernel.clock_error_ns));
               annotations.Number("lost_events", static_cast<int64_t>(kernel.lost_events));
               annotations.Number("untold_switches", static_cast<int64_t>(kernel.untold_switches));
             });
}

uint64_t KernelTracks::DescribeBelow(int32_t tid, TrackKind kind, std::string_view name) {
  const uint64_t uuid = TrackUuid(kind, pid_, static_cast<uint32_t>(tid));
  WriteTrack(writer_, {.uuid = uuid, .parent_uuid = tracks_->UuidOfTid(tid), .name = name});
  return uuid;
}

// Each track on a sequence of its own: their times are not in order among each other.
void KernelTracks::WriteFaults(const KernelWindow& kernel) {
  int32_t tid = 0;
  uint64_t uuid = 0;
  std::optional<AnnotatedSlices> slices;
  for (const FaultBurst& burst : FindFaultBursts(kernel.events, kernel.page_fault_cost_ns)) {
    if (!slices || burst.tid != tid) {
      tid = burst.tid;
      uuid = DescribeBelow(tid, TrackKind::kPageFaults, kFaultTrack);
      slices.emplace(writer_, next_sequence_++);
    }
    slices->Write({uuid, burst.from_ns, burst.to_ns, "page faults"}, [&](Annotations& annotations) {
      annotations.Number("faults", static_cast<int64_t>(burst.faults));
      annotations.Number("estimated_ns", static_cast<int64_t>(burst.estimated_ns));
      annotations.Text("basis", "estimate: faults times what one costs");
    });
  }
}

void KernelTracks::WriteOffCpu(const KernelWindow& kernel) {
  int32_t tid = 0;
  uint64_t uuid = 0;
  std::optional<AnnotatedSlices> slices;
  for (const OffCpu& off : kernel.off_cpu) {
    if (!slices || off.tid != tid) {
      tid = off.tid;
      uuid = DescribeBelow(tid, TrackKind::kOffCpu, kOffCpuTrack);
      slices.emplace(writer_, next_sequence_++);
    }
    slices->Write({uuid, off.from_ns, off.to_ns, off.preempted ? "preempted" : "waiting"},
                  [](Annotations&) {});
  }
}

}  // namespace jankbox

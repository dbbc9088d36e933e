// The kernel's side of a report's window, on the trace's clock. Plain data, made by KernelRecorder
// and written by the snapshot.
#ifndef JANKBOX_TRACER_FTRACE_KERNEL_WINDOW_H_
#define JANKBOX_TRACER_FTRACE_KERNEL_WINDOW_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tracer/ftrace/kernel_event.h"

namespace jankbox {

struct KernelWindow {
  enum class Source { kNone, kOwnSwitches, kFtrace };

  Source source = Source::kNone;
  std::string reason;  // why nothing better; empty for kFtrace
  uint64_t from_ns = 0;
  uint64_t to_ns = 0;

  // kFtrace. By time, BOOTTIME; the switches of each CPU follow one another.
  std::vector<KernelEvent> events;
  std::vector<int32_t> own_threads;  // of all those that the events speak of
  std::string trace_clock;
  uint64_t clock_error_ns = 0;    // of any stamp against our slices, at most
  uint64_t lost_events = 0;       // overwritten or dropped by the kernel within the window
  uint64_t untold_switches = 0;   // that the kernel missed: inferred from wake-ups, or left out
  std::set<uint16_t> lossy_cpus;  // CPUs with losses
  std::vector<CpuRival> rivals;   // in order of their end

  uint64_t page_fault_cost_ns = 0;  // of one, measured on this machine; 0: not known

  // kOwnSwitches. By thread, then by time.
  std::vector<OffCpu> off_cpu;

  // "kernel scheduling: …" for the report.
  std::string Note() const;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_FTRACE_KERNEL_WINDOW_H_

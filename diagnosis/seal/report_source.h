// The origin of a report's window and its facts: the living process, or the ring of a dead one.
// Plain data; sealing thread or programs.
#ifndef JANKBOX_DIAGNOSIS_SEAL_REPORT_SOURCE_H_
#define JANKBOX_DIAGNOSIS_SEAL_REPORT_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "diagnosis/blame/healthy_messages.h"
#include "monitors/frame/frame_book.h"
#include "monitors/frame/state_tags.h"
#include "monitors/incident/refusals.h"
#include "report/report.h"
#include "tracer/clock/tick_clock.h"
#include "tracer/ftrace/kernel_window.h"
#include "tracer/hook/got_hooks.h"
#include "tracer/ring/method_registry.h"
#include "tracer/ring/ring_reader.h"
#include "tracer/snapshot/snapshot_input.h"
#include "tracer/unwind/module_map.h"

namespace jankbox {

// How much of what follows an incident its window shows, if it has happened yet.
inline constexpr uint64_t kAfterIncidentNs = 100 * kNsPerMs;

struct ReportSource {
  const RingReader* ring = nullptr;
  std::vector<MethodRegistry::Entry> names;
  ModuleMap modules;
  bool js_names = false;  // code outside the modules is named by the process' perf map
  TickConverter clock;
  ClockReading clock_reading;
  SnapshotProcess process;
  std::string app_name;
  std::string app_version;
  uint64_t window_ns = 0;
  uint64_t end_ticks = 0;    // last moment of the window
  ReportSelfCost self_cost;  // ring_bytes comes from the ring
  uint64_t sigquits = 0;
  uint64_t suppressed_incidents = 0;
  bool ring_in_memory_only = false;
  uint32_t history_messages = 200;  // of the thread's messages before the incident
  ReportAtrace atrace;
  std::vector<RefusalCount> refusals;
  FrameSummary frames;
  std::vector<StateTag> states;
  std::vector<ModuleHooks> hooks;              // of a dead process: not known
  std::vector<std::string> notes;              // in every report
  std::shared_ptr<const KernelWindow> kernel;  // null: the process is dead
  std::shared_ptr<WindowBuffer> buffer;        // for the window's words; null: a new one
  HealthyMessages* healthy = nullptr;          // null: nothing to compare with
  uint64_t healthy_below_ns = 0;               // a message that takes longer is not healthy
  std::vector<SnapshotFact> thresholds;  // for the trace; empty: not known, as of a dead process
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_REPORT_SOURCE_H_

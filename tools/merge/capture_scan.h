// The first pass over a capture of any kind: what concerns the app, its clocks, its identifiers.
// Internal to the merge. One thread; blocks on the disk.
#ifndef JANKBOX_TOOLS_MERGE_CAPTURE_SCAN_H_
#define JANKBOX_TOOLS_MERGE_CAPTURE_SCAN_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "tools/merge/app_trace.h"
#include "tools/merge/capture_facts.h"
#include "tools/merge/system_capture.h"

namespace jankbox::tools {

struct CaptureScan {
  CaptureKind kind = CaptureKind::kText;
  CaptureFacts facts;
  TraceIds ids;                // of a Perfetto trace
  KernelClocks clocks;         // of its first snapshot
  uint32_t primary_clock = 0;  // the same; 0: not said
  uint64_t packets = 0;        // the same
  uint64_t contradictory_switches = 0;
  std::vector<traceproto::CapturedEvent> missing_switches;  // SwitchRepair::TakeMissing()
};

// REQUIRES `reading` as for the readers of events (system_capture.h).
Result<CaptureScan> ScanCapture(const std::string& path, CaptureKind kind, const AppTrace& app,
                                CaptureReading* reading);

// Events of a text or a trace.dat, as the kind says.
Status ReadCapture(const std::string& path, CaptureKind kind, const EventFunction& on_event,
                   CaptureReading* reading);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_MERGE_CAPTURE_SCAN_H_

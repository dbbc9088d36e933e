// What a report and its trace are made from: the window copied out of the ring, with the names of
// its methods, stacks and threads. Called by SealReport() on the sealing thread or in a program;
// allocates, reads /proc.
#ifndef JANKBOX_DIAGNOSIS_SEAL_REPORT_EVIDENCE_H_
#define JANKBOX_DIAGNOSIS_SEAL_REPORT_EVIDENCE_H_

#include <vector>

#include "diagnosis/seal/report_source.h"
#include "diagnosis/seal/seal_request.h"
#include "diagnosis/symbols/symbolizer.h"
#include "tracer/ring/ring_window.h"
#include "tracer/snapshot/snapshot_input.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

// The window, copied, and a name for everything in it.
struct ReportEvidence {
  RingWindow window;
  MethodNames names;
  FrameTable frames;
  std::vector<StackSample> samples;  // of the incident's thread, within the incident
  ThreadNames thread_names;          // of living threads
};

ReportEvidence GatherEvidence(const ReportSource& source, const SealRequest& request);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_SEAL_REPORT_EVIDENCE_H_

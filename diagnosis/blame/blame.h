// The blamed path of an incident from its window: instrumented methods out of the ring's events,
// and sampled stacks. Sealing thread; allocates.
#ifndef JANKBOX_DIAGNOSIS_BLAME_BLAME_H_
#define JANKBOX_DIAGNOSIS_BLAME_BLAME_H_

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/symbols/symbolizer.h"
#include "report/report.h"
#include "tracer/event/method_names.h"
#include "tracer/ring/ring_window.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {

struct Blame {
  std::vector<ReportMethod> methods;  // the call tree of instrumented methods, trimmed
  uint32_t methods_left_out = 0;
  std::vector<ReportRenderWork> render_work;  // on any thread, the longest first
  std::vector<ReportFrame> frames;  // innermost first: methods (module "[method]"), then the stack
  std::string place;  // the function that a developer should look at; empty if nothing is known
  // For the keys: the methods, or else the sampled functions of the app's own code.
  std::vector<ReportFrame> own;       // innermost first
  std::vector<std::string> key_path;  // outermost first; empty if neither is known
};

// Samples of thread `tid` in the window, oldest first, with `time_ns` in ticks of the ring (not yet
// converted). `tid` 0: all threads, and the stacks of those that created others.
std::vector<StackSample> SamplesOf(const RingWindow& window, int32_t tid);

// `samples` are in [from_ticks, to_ticks].
Blame FindBlame(const RingWindow& window, int32_t tid, uint64_t from_ticks, uint64_t to_ticks,
                const std::vector<StackSample>& samples, const FrameTable& frames,
                const MethodNames& names, double ns_per_tick);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_BLAME_H_

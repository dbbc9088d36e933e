// Cuts one thread's stack samples at the edges of its dispatches: a run is samples that are between
// two such edges. A run inside a dispatch without method events may be drawn on the thread's
// own track. Walks the thread's events as a sink; keeps runs that have samples. One thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_SAMPLE_RUNS_H_
#define JANKBOX_TRACER_SNAPSHOT_SAMPLE_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tracer/snapshot/stack_samples.h"
#include "tracer/snapshot/thread_events.h"
#include "tracer/snapshot/trace_clock.h"

namespace jankbox {

struct SampleRun {
  size_t first = 0;  // samples [first, last)
  size_t last = 0;
  uint64_t from_ns = 0;  // edges: slices stay strictly inside
  uint64_t to_ns = 0;
  bool on_thread_track = false;
};

class SampleRunFinder : public ThreadEventSink {
 public:
  // `samples` of one thread, in order of time.
  SampleRunFinder(std::span<const SampleRef> samples, const TraceClock& clock)
      : samples_(samples), clock_(clock) {}

  void Begin(const EventRecord& call, uint64_t ticks, uint32_t notes) override;
  void End(const EventRecord& call, uint64_t ticks, uint32_t notes) override;
  void Instant(uint32_t, uint64_t) override {}
  void Record(const EventRecord&) override {}

  // After the walk.
  std::vector<SampleRun> TakeRuns();

 private:
  static constexpr size_t kNoDispatch = SIZE_MAX;
  struct OpenDispatch {
    size_t index;
    bool has_methods = false;
  };

  void CutAt(uint64_t boottime_ns, uint64_t samples_end_ns);

  std::span<const SampleRef> samples_;
  const TraceClock& clock_;
  std::vector<OpenDispatch> open_;
  std::vector<bool> has_methods_;  // by dispatch
  std::vector<SampleRun> runs_;
  std::vector<size_t> run_dispatches_;  // of each run
  size_t next_sample_ = 0;
  uint64_t last_cut_ns_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_SAMPLE_RUNS_H_

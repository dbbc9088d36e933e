// One thread's stack samples as nested slices over time (a flame chart): calls that consecutive
// samples share, from the outermost on, are one slice, from its first sample to the one in which it
// is gone. Drawn inside the thread's dispatch slices if those are otherwise empty, else on a track
// of their own. One thread; keeps the distinct function names.
#ifndef JANKBOX_TRACER_SNAPSHOT_SAMPLE_SLICES_H_
#define JANKBOX_TRACER_SNAPSHOT_SAMPLE_SLICES_H_

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "tracer/perfetto/event_sequence.h"
#include "tracer/snapshot/sample_runs.h"
#include "tracer/snapshot/sequence_names.h"
#include "tracer/snapshot/stack_samples.h"
#include "tracer/unwind/resolved_frame.h"

namespace jankbox {

struct SampleTracks {
  uint64_t thread_uuid = 0;
  uint64_t sampled_uuid = 0;  // "sampled stack", below it
};

// The usual distance between samples; the default interval of the sampler if there are too few.
uint64_t MedianIntervalNs(std::span<const SampleRef> samples);

// Name of a call in the flame chart: function, else "module+0x1234", else "0x1234".
std::string FrameText(const FrameTable* frames, uint64_t address);

class SampleSlices {
 public:
  // `frames` may be null. `unit_ns` is the unit of the trace's clocks, a power of two.
  SampleSlices(EventSequence* sequence, SequenceNames* names, const FrameTable* frames,
               const SampleTracks& tracks, uint32_t unit_ns)
      : sequence_(sequence), names_(names), frames_(frames), tracks_(tracks), unit_ns_(unit_ns) {}

  // All samples of the thread and their runs, both in order of time. Returns the slices written.
  uint64_t Write(std::span<const SampleRef> samples, std::span<const SampleRun> runs);

 private:
  struct Bounds {
    uint64_t track_uuid;
    uint64_t from_ns;
    uint64_t to_ns;
  };

  Bounds BoundsOf(const SampleRun& run) const;
  void WriteRun(std::span<const SampleRef> samples, const Bounds& bounds, uint64_t interval_ns);
  void CallsOf(const StackSample& sample, std::vector<uint64_t>* calls);
  uint64_t NameOf(uint64_t address);  // iid
  void OpenTo(const std::vector<uint64_t>& calls, uint64_t boottime_ns, bool truncated,
              const Bounds& bounds);
  void CloseDownTo(size_t depth, uint64_t boottime_ns, const Bounds& bounds);

  EventSequence* sequence_;
  SequenceNames* names_;
  const FrameTable* frames_;
  SampleTracks tracks_;
  uint32_t unit_ns_;
  std::unordered_map<uint64_t, uint64_t> names_by_address_;  // iids
  std::vector<uint64_t> open_;                               // name iids, outermost first
  uint64_t slices_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_SAMPLE_SLICES_H_

#include "tracer/snapshot/wake_up_flows.h"

#include <algorithm>

#include "base/compact_sort.h"
#include "tracer/snapshot/trace_clock.h"

namespace jankbox {
namespace {

// Those of thread creations are made of a tid and ticks, and never have this bit.
constexpr uint64_t kFirstFlowId = uint64_t{1} << 63;

struct End {
  uint64_t time_ns = 0;
  size_t number = 0;  // of the wake-up
  bool woken = false;
};

}  // namespace

void WriteWakeUpFlows(const std::vector<SnapshotWakeUp>& wake_ups, ProcessTracks* tracks,
                      SequenceNames* names, EventSequence* sequence) {
  std::vector<End> ends;
  for (size_t i = 0; i < wake_ups.size(); ++i) {
    const uint64_t by_ns = std::min(wake_ups[i].by_ns, TraceClock::kMaxNs);
    ends.push_back({by_ns, i, false});
    ends.push_back({std::clamp(wake_ups[i].woken_ns, by_ns, TraceClock::kMaxNs), i, true});
  }
  // A flow begins before it ends, at the same moment too.
  CompactSort(&ends, [](const End& a, const End& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    return a.number != b.number ? a.number < b.number : !a.woken && b.woken;
  });
  for (const End& end : ends) {
    const SnapshotWakeUp& wake_up = wake_ups[end.number];
    const uint64_t track_uuid =
        tracks->UuidOfTid(end.woken ? wake_up.woken_tid : wake_up.waker_tid);
    if (!sequence->started()) {
      sequence->Start(end.time_ns);
      names->Use(sequence);
    }
    sequence->Write(end.time_ns,
                    {.type = perfetto::TrackEventType::kInstant,
                     .track_uuid = track_uuid,
                     .category = Category::kThread,
                     .name_iid = names->OfText(end.woken ? wake_up.woken_text : wake_up.waker_text),
                     .flow_id = kFirstFlowId + end.number,
                     .flow_ends = end.woken});
  }
}

}  // namespace jankbox

// Async slices and counters on tracks below the process: one track for each (name, cookie) and for
// each counter. Slices open at the window's edges are drawn from where they began and closed at its
// end. One thread; keeps one entry a track.
#ifndef JANKBOX_TRACER_SNAPSHOT_PROCESS_EVENTS_H_
#define JANKBOX_TRACER_SNAPSHOT_PROCESS_EVENTS_H_

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tracer/perfetto/event_sequence.h"
#include "tracer/ring/ring_window.h"
#include "tracer/snapshot/merged_events.h"
#include "tracer/snapshot/sequence_names.h"
#include "tracer/snapshot/trace_clock.h"

namespace jankbox {

class ProcessEvents {
 public:
  struct Counts {
    uint64_t slices = 0;
    uint64_t unmatched_ends = 0;
    uint64_t open_slices = 0;
  };

  // Tracks are described through `writer`, below the process's track; events go to `sequence`.
  ProcessEvents(PacketWriter* writer, EventSequence* sequence, SequenceNames* names,
                const TraceClock& clock, int32_t pid);

  // Events from `from_ticks` on; earlier ones say what was open. Once.
  Counts Write(MergedEvents* events, const RingWindow& window);

 private:
  using AsyncKey = std::pair<uint32_t, uint64_t>;  // name, cookie
  struct AsyncTrack {
    uint64_t uuid = 0;                  // 0: not described yet
    std::vector<uint64_t> begin_ticks;  // of the open slices, outermost first
  };

  void EnterWindow(uint64_t from_ticks);
  void Handle(const EventRecord& event);
  void CloseAll(uint64_t end_ticks);
  void WriteCounter(const EventRecord& event, uint64_t value);
  void WriteAsync(const AsyncKey& key, AsyncTrack* track, perfetto::TrackEventType type,
                  uint64_t ticks, uint32_t notes);
  uint64_t TimeOf(uint64_t ticks);

  PacketWriter* writer_;
  EventSequence* sequence_;
  SequenceNames* names_;
  const TraceClock& clock_;
  int32_t pid_;
  std::map<AsyncKey, AsyncTrack> async_tracks_;
  uint32_t described_async_tracks_ = 0;
  std::unordered_map<uint32_t, uint64_t> counter_uuids_;
  bool in_window_ = false;
  Counts counts_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_PROCESS_EVENTS_H_

// Draws the lives of threads: an instant at which a thread was created, joined by a flow to one
// at its first instruction, one at its end; and for a tid with more than one name, a track of its
// names over time. A sequence of its own. One thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_THREAD_TRACKS_H_
#define JANKBOX_TRACER_SNAPSHOT_THREAD_TRACKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/perfetto/event_sequence.h"
#include "tracer/snapshot/process_tracks.h"
#include "tracer/snapshot/sequence_names.h"
#include "tracer/snapshot/thread_lives.h"
#include "tracer/snapshot/trace_clock.h"

namespace jankbox {

class ThreadTracks {
 public:
  ThreadTracks(PacketWriter* writer, EventSequence* sequence, SequenceNames* names,
               ProcessTracks* tracks, const TraceClock& clock)
      : writer_(writer), sequence_(sequence), names_(names), tracks_(tracks), clock_(clock) {}

  // Once. Returns the slices written.
  uint64_t Write(const ThreadLives& lives, const RingWindow& window, int32_t pid);

 private:
  struct Entry {
    uint64_t ticks = 0;
    perfetto::TrackEventType type{};
    uint64_t track_uuid = 0;
    std::string name;  // empty at a slice's end
    uint64_t flow_id = 0;
    bool flow_ends = false;
    const char* value_name = nullptr;  // of the annotation `value`; null: none
    int64_t value = 0;
  };

  void AddLife(const ThreadLives& lives, int32_t tid, const ThreadLife& life,
               const RingWindow& window);
  void AddNames(int32_t tid, const std::vector<ThreadLife>& lives, const RingWindow& window,
                int32_t pid);

  PacketWriter* writer_;
  EventSequence* sequence_;
  SequenceNames* names_;
  ProcessTracks* tracks_;
  const TraceClock& clock_;
  std::vector<Entry> entries_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_THREAD_TRACKS_H_

// The markers that belong to no thread: async slices, counters, and events of named tracks,
// all below the process. Slices open at the window's edges are drawn from where they began and
// closed at its end. One thread; keeps one entry a track.
#ifndef JANKBOX_TRACER_SNAPSHOT_MARKER_TRACKS_H_
#define JANKBOX_TRACER_SNAPSHOT_MARKER_TRACKS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tracer/event/marker_text.h"
#include "tracer/perfetto/event_sequence.h"
#include "tracer/ring/ring_window.h"
#include "tracer/snapshot/sequence_names.h"
#include "tracer/snapshot/thread_slices.h"
#include "tracer/snapshot/trace_clock.h"

namespace jankbox {

class MarkerTracks {
 public:
  struct Counts {
    uint64_t slices = 0;
    uint64_t unmatched_ends = 0;
    uint64_t open_slices = 0;
  };

  MarkerTracks(PacketWriter* writer, EventSequence* sequence, SequenceNames* names,
               const TraceClock& clock, int32_t pid);

  // Sorts `markers` and writes them. Those before the window say what was open. Once.
  Counts Write(std::vector<MarkerRef>* markers, const RingWindow& window);

 private:
  // S and F: name and cookie; G and H: track and cookie; C: name; N: track.
  using Key = std::tuple<char, std::string, int64_t>;
  struct OpenSlice {
    uint64_t ticks;
    std::string name;
  };
  struct Track {
    uint64_t uuid = 0;            // 0: not described yet
    std::vector<OpenSlice> open;  // outermost first
  };

  static Key KeyOf(const MarkerParts& marker);
  void EnterWindow(uint64_t from_ticks);
  void Handle(const MarkerParts& marker, uint64_t ticks);
  void EndSlice(const Key& key, uint64_t ticks);
  void CloseAll(uint64_t end_ticks);
  void BeginSlice(const Key& key, const OpenSlice& slice, uint32_t notes);
  uint64_t Describe(const Key& key, Track* track);
  uint64_t TimeOf(uint64_t ticks);

  PacketWriter* writer_;
  EventSequence* sequence_;
  SequenceNames* names_;
  const TraceClock& clock_;
  int32_t pid_;
  std::map<Key, Track> tracks_;
  uint32_t described_ = 0;
  bool in_window_ = false;
  Counts counts_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_MARKER_TRACKS_H_

// The events of all threads that belong to the process (async slices, counters), merged in order of
// time: an async slice may begin on one thread and end on another. Keeps one cursor a thread. One
// thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_MERGED_EVENTS_H_
#define JANKBOX_TRACER_SNAPSHOT_MERGED_EVENTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

#include "tracer/ring/ring_window.h"

namespace jankbox {

class MergedEvents {
 public:
  // Events up to `end_ticks` of `threads`, which outlive this.
  MergedEvents(const std::vector<const WindowThread*>& threads, uint64_t end_ticks);

  // False at the end. Ticks never decrease.
  bool Next(EventRecord* record);

 private:
  struct Source {
    const WindowThread* thread;
    size_t next_chunk = 0;
    std::optional<EventCursor> cursor;
    EventRecord head;
  };
  struct Later {
    const std::vector<Source>* sources;
    bool operator()(size_t a, size_t b) const {
      const uint64_t at_a = (*sources)[a].head.ticks;
      const uint64_t at_b = (*sources)[b].head.ticks;
      return at_a != at_b ? at_a > at_b : a > b;
    }
  };

  bool Advance(Source* source) const;

  uint64_t end_ticks_;
  std::vector<Source> sources_;
  std::priority_queue<size_t, std::vector<size_t>, Later> heads_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_MERGED_EVENTS_H_

// The marker lane of one thread as one stream, in order of time: what is carried from chunk to
// chunk is returned once, and again only after a gap. Keeps one cursor and one record. One thread.
#ifndef JANKBOX_TRACER_SNAPSHOT_ASIDE_EVENTS_H_
#define JANKBOX_TRACER_SNAPSHOT_ASIDE_EVENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tracer/ring/ring_window.h"

namespace jankbox {

class AsideEvents {
 public:
  // Of `thread`, which outlives this.
  explicit AsideEvents(const WindowThread& thread);

  // When the next one is; kNever at the end. Damaged rings may contain calls of that moment.
  uint64_t ticks() const { return ticks_; }
  bool AtEnd() const { return ticks_ == kNever; }

  // True if records are missing before the next one. `carried` are the markers that were open
  // when they end, outermost first, with the moments of their starts.
  bool gap() const { return gap_; }
  const std::vector<EventRecord>& carried() const { return carried_; }

  // Takes the next one; at a gap, only clears gap(). REQUIRES !AtEnd().
  EventRecord Pop();

  uint64_t torn_events() const { return torn_events_; }

 private:
  static constexpr uint64_t kNever = UINT64_MAX;

  void Advance();
  void OpenChunk(const WindowChunk& chunk);

  const std::vector<WindowChunk>& chunks_;
  size_t next_chunk_ = 0;
  std::optional<EventCursor> cursor_;
  std::vector<EventRecord> carried_;
  size_t next_carried_ = 0;  // of those reported as records: the first chunk's
  std::optional<EventRecord> head_;
  uint64_t ticks_ = 0;
  uint64_t last_ticks_ = 0;
  bool gap_ = false;
  uint64_t torn_events_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SNAPSHOT_ASIDE_EVENTS_H_

// A copy of the ring's last seconds, as the snapshot encoder and recovery read it: threads, their
// chunks in order, and a cursor over the events of one chunk. Owns its memory; single-threaded;
// nothing here checks the live ring.
#ifndef JANKBOX_TRACER_RING_RING_WINDOW_H_
#define JANKBOX_TRACER_RING_RING_WINDOW_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tracer/event/event.h"
#include "tracer/ring/window_buffer.h"

namespace jankbox {

// A call that was open when its chunk began: its begin event may be gone.
struct OpenCall {
  uint32_t id = 0;
  EventKind kind = EventKind::kBegin;  // kBegin or kDispatchBegin (its name is then lost; id is 0)
  uint64_t ticks = 0;                  // when it began
};

// The words of a chunk: its own, or some of a buffer that outlives it.
class ChunkWords {
 public:
  void push_back(uint64_t word) { own_.push_back(word); }
  void Refer(const uint64_t* words, size_t count) { view_ = {words, count}; }

  const uint64_t* data() const { return own_.empty() ? view_.data() : own_.data(); }
  size_t size() const { return own_.empty() ? view_.size() : own_.size(); }
  const uint64_t* begin() const { return data(); }
  const uint64_t* end() const { return data() + size(); }
  uint64_t operator[](size_t at) const { return data()[at]; }

 private:
  std::vector<uint64_t> own_;
  std::span<const uint64_t> view_;
};

struct WindowChunk {
  uint64_t sequence = 0;    // grows with each claim of a chunk, over the whole ring
  uint64_t base_ticks = 0;  // deltas of the first words count from here
  bool gap_before = false;  // an earlier chunk of this thread was recycled or torn: events are
                            // missing before this one
  uint32_t open_calls_truncated = 0;
  std::vector<OpenCall> open_calls;  // outermost first
  ChunkWords words;                  // committed words only
  uint64_t close_ticks = 0;          // when the thread left it for another; 0: not yet
};

struct WindowThread {
  int32_t tid = 0;
  uint64_t serial = 0;  // tids are given again, serials are not
  std::string name;
  bool ui = false;                  // a watched thread
  uint64_t words_before = 0;        // of events, in chunks before the first one here
  uint64_t words_missing = 0;       // of events, in recycled or torn chunks between those here
  std::vector<WindowChunk> chunks;  // oldest first
  // The same of its marker lane: kMarker, kWait, kThread.
  uint64_t marker_words_before = 0;
  uint64_t marker_words_missing = 0;
  std::vector<WindowChunk> markers;
};

struct RingWindow {
  uint64_t from_ticks = 0;  // no event before this was asked for; chunks may begin earlier
  uint64_t to_ticks = 0;
  uint64_t overwritten_chunks = 0;
  uint64_t torn_chunks = 0;
  uint64_t corrupt_chunks = 0;  // of a file: their checksum is wrong
  uint64_t dropped_events = 0;
  std::vector<WindowThread> threads;
  std::shared_ptr<WindowBuffer> buffer;  // what the chunks' words are in
};

// One event with its payload.
struct EventRecord {
  EventKind kind = EventKind::kNone;
  uint32_t id = 0;
  uint64_t ticks = 0;                 // absolute
  std::span<const uint64_t> payload;  // whole words; PayloadOf() gives their data
};

// Walks the events of a chunk. Bounds-checked against any content: an event whose payload is cut
// off or malformed ends the walk and counts as torn.
class EventCursor {
 public:
  explicit EventCursor(const WindowChunk& chunk) : EventCursor(chunk, 0, chunk.base_ticks) {}
  // Goes on at a word where another cursor ended that had read all before it: its words_read() and
  // base_ticks().
  EventCursor(const WindowChunk& chunk, size_t from_word, uint64_t base_ticks)
      : words_(chunk.words.data(), chunk.words.size()), base_ticks_(base_ticks), at_(from_word) {}

  // False at the end. Rebase events are consumed here and never returned.
  bool Next(EventRecord* record);

  // The next event if it is a method's begin or end, which most are: the short way past Next().
  bool NextCall(EventRecord* record) {
    if (at_ >= words_.size()) return false;
    const uint64_t word = words_[at_];
    const EventKind kind = KindOf(word);
    if (kind != EventKind::kBegin && kind != EventKind::kEnd) return false;
    ++at_;
    record->kind = kind;
    record->id = IdOf(word);
    record->ticks = TicksOf(word, base_ticks_);
    return true;
  }
  bool torn() const { return torn_; }
  size_t words_read() const { return at_; }
  uint64_t base_ticks() const { return base_ticks_; }

 private:
  std::span<const uint64_t> words_;
  uint64_t base_ticks_;
  size_t at_;
  bool torn_ = false;
};

// Payload words that `kind` with `id` must have; SIZE_MAX for a kind that is not known.
size_t ExpectedPayloadWords(EventKind kind, uint32_t id);

// The text in a kMarker record.
std::string MarkerText(const EventRecord& record);

// The name in a kDispatchBegin record.
std::string DispatchName(const EventRecord& record);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_RING_WINDOW_H_

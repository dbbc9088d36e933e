// The calls that are open at the end of a chunk: replayed when a thread takes its next chunk, so
// that an outer call outlives the chunk with its start. On the app's thread: NO-ALLOC,
// bounded by one chunk, and most of what a chunk costs, so well-nested words are counted backwards,
// several at a time, and only others are replayed one by one.
#ifndef JANKBOX_TRACER_RING_OPEN_CALLS_H_
#define JANKBOX_TRACER_RING_OPEN_CALLS_H_

#include <cstdint>

#include "tracer/ring/ring_format.h"

namespace jankbox {

// First word of the events of a chunk, after its open calls.
inline uint64_t* FirstWord(RingChunk* chunk) {
  return reinterpret_cast<uint64_t*>(chunk + 1) + chunk->open_calls * (sizeof(RingOpenCall) / 8);
}

class OpenCallStack {
 public:
  // Applies the open calls of `chunk` and its events up to `end`.
  void Replay(RingChunk* chunk, const uint64_t* end);

  // The same, one event after the other.
  void ReplayOneByOne(RingChunk* chunk, const uint64_t* end);

  // Writes the stack, outermost first, and returns the first word after it.
  uint64_t* WriteTo(uint64_t* words) const;

  uint32_t size() const { return depth_ < kMaxOpenCalls ? depth_ : kMaxOpenCalls; }
  uint32_t truncated() const { return depth_ - size(); }

 private:
  bool ReplayNested(RingChunk* chunk, const uint64_t* end);
  void Push(uint64_t ticks, uint32_t id, uint32_t kind);
  void Pop(uint32_t id, uint32_t kind);

  RingOpenCall calls_[kMaxOpenCalls];
  uint32_t depth_ = 0;  // may exceed kMaxOpenCalls: those beyond are counted only
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_OPEN_CALLS_H_

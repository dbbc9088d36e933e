// The sync markers that are open at the end of a chunk ("B|…" without its "E"): written again at
// the start of the thread's next one, so that they outlive their chunk. On the app's
// thread: NO-ALLOC, bounded by one chunk.
#ifndef JANKBOX_TRACER_RING_OPEN_MARKERS_H_
#define JANKBOX_TRACER_RING_OPEN_MARKERS_H_

#include <cstdint>

#include "tracer/ring/ring_format.h"

namespace jankbox {

// Those deeper than 32 are not carried over; of a text, the first 112 bytes are.
inline constexpr uint32_t kMaxCarriedMarkers = 32;
inline constexpr uint32_t kMaxCarriedBytes = 112;

// Writes the markers that are open after the events of `chunk` up to `end` to `words`, as of `now`
// (the new chunk's base), outermost first. Returns the first word after them.
uint64_t* CarryOpenMarkers(RingChunk* chunk, const uint64_t* end, uint64_t now, uint64_t* words);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_RING_OPEN_MARKERS_H_

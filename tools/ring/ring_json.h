// A ring file as JSON: what `jankbox ring dump --json` prints and ring_text.h shows. The bytes are
// untrusted: everything comes through RingReader, which checks each count. Threads: one; allocates.
#ifndef JANKBOX_TOOLS_RING_RING_JSON_H_
#define JANKBOX_TOOLS_RING_RING_JSON_H_

#include <cstddef>
#include <nlohmann/json.hpp>

#include "tracer/ring/ring_reader.h"

namespace jankbox::tools {

// Keys: process, state, clock, window, modes, watched, incidents, losses, threads, chunks. Moments
// are ticks of the ring's own clock; `clock.end_ticks` is the last moment that the ring knows of.
// With `events_per_thread` above 0 each thread has `events`, its last ones.
nlohmann::json RingToJson(const RingReader& reader, size_t events_per_thread);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RING_RING_JSON_H_

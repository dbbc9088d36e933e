// The threads of a ring with their events, as JSON. Part of ring_json.h. Threads: one; allocates.
#ifndef JANKBOX_TOOLS_RING_RING_THREADS_H_
#define JANKBOX_TOOLS_RING_RING_THREADS_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>

#include "tracer/ring/ring_reader.h"

namespace jankbox::tools {

// Name by id: text, or a function's address where the ring knows no more.
using RingNames = std::unordered_map<uint32_t, std::string>;
RingNames NamesOf(const RingReader& reader);

struct RingThreads {
  nlohmann::json threads = nlohmann::json::array();
  uint64_t newest_ticks = 0;   // of any event
  uint64_t words_missing = 0;  // of events, in recycled chunks between those that are left
  uint64_t torn_events = 0;    // chunks whose last event is not whole
};

RingThreads ThreadsOf(const RingWindow& window, const RingNames& names, size_t events_per_thread);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RING_RING_THREADS_H_

// The messages of a thread's loop before an incident, from a window's dispatches: how many
// messages, their time together, the longest ones and the last ones. Nothing is kept for it while
// the app runs, so it costs its threads nothing and works for the ring of a dead process too; what
// watched threads record has a share of the ring that no flood of others evicts. Sealing thread or
// programs; allocates, at most some 100 bytes for each message that is kept.
#ifndef JANKBOX_DIAGNOSIS_BLAME_MESSAGE_HISTORY_H_
#define JANKBOX_DIAGNOSIS_BLAME_MESSAGE_HISTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tracer/ring/ring_window.h"

namespace jankbox {

// One message; or a run of short ones (under kShortMessageNs) of the same name, one right after
// the other.
struct LoopMessage {
  uint32_t name = 0;         // index into MessageHistory::names, from 1; 0: it has none
  uint64_t begin_ticks = 0;  // of the first
  uint64_t wall_ticks = 0;   // of all together
  uint32_t count = 1;
};

struct MessageHistory {
  static constexpr size_t kLongest = 5;
  static constexpr size_t kMaxNames = 512;  // messages with others have none
  static constexpr uint64_t kShortMessageNs = 1'000'000;

  uint64_t from_ticks =
      0;               // what was before is not known: the window begins, or events are missing
  uint64_t count = 0;  // messages from then to the incident
  uint64_t busy_ticks = 0;  // their time together
  uint64_t left_out = 0;    // of `count`: older than the first of `last`
  std::vector<std::string> names;
  std::vector<LoopMessage> longest;  // the longest first; none of them merged
  std::vector<LoopMessage> last;     // oldest first
};

// Of the messages of thread `tid` that began before `incident_ticks`; `last` has at most
// `max_messages` of them, merged ones counted one by one. Nested dispatches are part of the
// outermost one, which takes the first name inside if it has none.
MessageHistory ReadMessageHistory(const RingWindow& window, int32_t tid, uint64_t incident_ticks,
                                  double ns_per_tick, size_t max_messages);

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_BLAME_MESSAGE_HISTORY_H_

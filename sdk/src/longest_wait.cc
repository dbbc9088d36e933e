#include "sdk/src/longest_wait.h"

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "tracer/snapshot/wait_slices.h"

namespace jankbox {
namespace {

struct Wait {
  WaitEvent begin;
  uint64_t from_ticks = 0;
  uint64_t ticks = 0;  // how long, within the incident
};

// Calls `visit(begin, from, to)` for each wait; one that is open at the end goes on to `to_ticks`.
template <typename Visit>
void EachWait(const WindowThread& thread, uint64_t to_ticks, Visit visit) {
  std::vector<Wait> open;
  for (const WindowChunk& chunk : thread.markers) {
    if (chunk.gap_before) open.clear();
    EventCursor cursor(chunk);
    EventRecord record;
    while (cursor.Next(&record)) {
      WaitEvent event;
      if (record.kind != EventKind::kWait || !DecodeWaitRecord(record, &event)) continue;
      if (!event.end) {
        open.push_back({event, record.ticks});
      } else if (!open.empty()) {
        visit(open.back().begin, open.back().from_ticks, record.ticks);
        open.pop_back();
      }
    }
  }
  for (const Wait& wait : open) visit(wait.begin, wait.from_ticks, to_ticks);
}

}  // namespace

std::string LongestWaitNote(const RingWindow& window, const ThreadLives& lives, int32_t tid,
                            uint64_t from_ticks, uint64_t to_ticks, const TickConverter& clock) {
  Wait longest;
  for (const WindowThread& thread : window.threads) {
    if (thread.tid != tid) continue;
    EachWait(thread, to_ticks, [&](const WaitEvent& begin, uint64_t from, uint64_t to) {
      const uint64_t since = std::max(from, from_ticks);
      const uint64_t until = std::min(to, to_ticks);
      if (IsFileWait(begin.what) || until <= since || until - since <= longest.ticks) return;
      longest = {begin, from, until - since};
    });
  }
  const double ns = static_cast<double>(longest.ticks) * clock.ns_per_tick();
  if (ns < static_cast<double>(kNsPerMs)) return {};
  const int32_t owner = longest.begin.owner_tid;
  const std::string name = owner != 0 ? lives.NameAt(owner, longest.from_ticks) : "";
  return WaitName(longest.begin, name) + ": " +
         std::to_string(static_cast<uint64_t>(ns) / kNsPerMs) + " ms.";
}

}  // namespace jankbox

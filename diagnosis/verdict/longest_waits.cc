#include "diagnosis/verdict/longest_waits.h"

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "tracer/ring/wait_record.h"
#include "tracer/snapshot/wait_slices.h"

namespace jankbox {
namespace {

constexpr size_t kMaxNotes = 3;

struct Wait {
  WaitEvent begin;
  uint64_t from_ticks = 0;
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

std::vector<std::string> LongestWaits(const RingWindow& window, const ThreadLives& lives,
                                      int32_t tid, uint64_t from_ticks, uint64_t to_ticks,
                                      const TickConverter& clock) {
  std::map<std::string, uint64_t> ticks_by_name;
  for (const WindowThread& thread : window.threads) {
    if (thread.tid != tid) continue;
    EachWait(thread, to_ticks, [&](const WaitEvent& begin, uint64_t from, uint64_t to) {
      const uint64_t since = std::max(from, from_ticks);
      const uint64_t until = std::min(to, to_ticks);
      if (IsFileWait(begin.what) || until <= since) return;
      const std::string owner = begin.owner_tid != 0 ? lives.NameAt(begin.owner_tid, from) : "";
      ticks_by_name[WaitName(begin, owner)] += until - since;
    });
  }
  std::vector<std::string> notes;
  while (notes.size() < kMaxNotes && !ticks_by_name.empty()) {
    const auto longest =
        std::max_element(ticks_by_name.begin(), ticks_by_name.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const double ns = static_cast<double>(longest->second) * clock.ns_per_tick();
    if (ns < static_cast<double>(kNsPerMs)) break;
    notes.push_back(longest->first + ": " + std::to_string(static_cast<uint64_t>(ns) / kNsPerMs) +
                    " ms.");
    ticks_by_name.erase(longest);
  }
  return notes;
}

}  // namespace jankbox

#include "diagnosis/seal/coverage.h"

#include <algorithm>

namespace jankbox {
namespace {

uint64_t Overlap(uint64_t from, uint64_t to, uint64_t other_from, uint64_t other_to) {
  const uint64_t begin = std::max(from, other_from);
  const uint64_t end = std::min(to, other_to);
  return end > begin ? end - begin : 0;
}

// The thread that had `tid` last before `to_ticks`; null if the window has nothing of it.
const WindowThread* ThreadAt(const RingWindow& window, int32_t tid, uint64_t to_ticks) {
  const WindowThread* latest = nullptr;
  for (const WindowThread& thread : window.threads) {
    const bool fits =
        thread.tid == tid && !thread.chunks.empty() && thread.chunks.front().base_ticks <= to_ticks;
    if (fits && (latest == nullptr || thread.serial > latest->serial)) latest = &thread;
  }
  return latest;
}

// Of the time between `from` and `to`: when events of the thread were recorded at all.
uint64_t RecordedTicks(const std::vector<RecordedMode>& modes, bool watched, uint64_t from,
                       uint64_t to) {
  uint64_t off = 0;
  for (size_t i = 0; i < modes.size(); ++i) {
    const bool recorded =
        modes[i].mode != RecordMode::kOff && (watched || modes[i].mode != RecordMode::kWatchedOnly);
    const uint64_t until = i + 1 < modes.size() ? modes[i + 1].from_ticks : UINT64_MAX;
    if (!recorded) off += Overlap(from, to, modes[i].from_ticks, until);
  }
  return Overlap(from, to, 0, UINT64_MAX) - off;
}

}  // namespace

uint64_t CoveredTicks(const RingWindow& window, int32_t tid, uint64_t from_ticks, uint64_t to_ticks,
                      const std::vector<RecordedMode>& modes) {
  const uint64_t from = std::max(from_ticks, window.from_ticks);
  const uint64_t to = std::min(to_ticks, window.to_ticks);
  const WindowThread* thread = ThreadAt(window, tid, to);
  if (thread == nullptr || from >= to) return 0;
  const std::vector<WindowChunk>& chunks = thread->chunks;
  uint64_t covered = 0;
  // Before its first chunk a thread has recorded nothing, so nothing is lost there.
  uint64_t begin = chunks.front().gap_before ? chunks.front().base_ticks : from;
  for (size_t i = 0; i < chunks.size(); ++i) {
    const bool last = i + 1 == chunks.size();
    if (!last && !chunks[i + 1].gap_before) continue;
    // An open chunk is the thread's newest; one before a gap is closed, unless it was torn.
    const uint64_t open_until = last ? to : chunks[i].base_ticks;
    const uint64_t end = chunks[i].close_ticks != 0 ? chunks[i].close_ticks : open_until;
    covered += RecordedTicks(modes, thread->ui, std::max(begin, from), std::min(end, to));
    if (!last) begin = chunks[i + 1].base_ticks;
  }
  return covered;
}

}  // namespace jankbox

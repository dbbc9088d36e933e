#include "diagnosis/seal/coverage.h"

#include <algorithm>
#include <utility>

namespace jankbox {
namespace {

constexpr char kOverwritten[] = "overwritten";
constexpr char kOff[] = "recording was off";
constexpr char kOutside[] = "outside of the window";
constexpr char kNoEvents[] = "no event of the thread";

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

class GapFinder {
 public:
  GapFinder(uint64_t from_ticks, uint64_t to_ticks, const std::vector<RecordedMode>& modes)
      : from_ticks_(from_ticks), to_ticks_(to_ticks), modes_(modes) {}

  void Find(const RingWindow& window, int32_t tid) {
    const uint64_t from = std::max(from_ticks_, window.from_ticks);
    const uint64_t to = std::min(to_ticks_, window.to_ticks);
    Add(0, window.from_ticks, kOutside);
    const WindowThread* thread = ThreadAt(window, tid, to);
    if (thread == nullptr) {
      Add(from, to, kNoEvents);
    } else {
      FindIn(*thread, from, to);
    }
    Add(std::max(window.from_ticks, window.to_ticks), UINT64_MAX, kOutside);
  }

  std::vector<CoverageGap> Take() { return std::move(gaps_); }

 private:
  void FindIn(const WindowThread& thread, uint64_t from, uint64_t to) {
    const std::vector<WindowChunk>& chunks = thread.chunks;
    // Before its first chunk a thread has recorded nothing, so nothing is lost there.
    uint64_t begin = chunks.front().gap_before ? chunks.front().base_ticks : from;
    uint64_t at = from;
    for (size_t i = 0; i < chunks.size(); ++i) {
      const bool last = i + 1 == chunks.size();
      if (!last && !chunks[i + 1].gap_before) continue;
      // An open chunk is the thread's newest; one before a gap is closed, unless it was torn.
      const uint64_t open_until = last ? to : chunks[i].base_ticks;
      const uint64_t end =
          std::min(chunks[i].close_ticks != 0 ? chunks[i].close_ticks : open_until, to);
      if (end > std::max(begin, at)) {
        Add(at, begin, kOverwritten);
        at = std::max(begin, at);
        AddUnrecorded(thread.ui, at, end);
        at = end;
      }
      if (!last) begin = chunks[i + 1].base_ticks;
    }
    Add(at, to, kOverwritten);
  }

  // The parts of that time in which events of the thread were not recorded at all.
  void AddUnrecorded(bool watched, uint64_t from, uint64_t to) {
    for (size_t i = 0; i < modes_.size(); ++i) {
      const RecordMode mode = modes_[i].mode;
      const bool recorded =
          mode != RecordMode::kOff && (watched || mode != RecordMode::kWatchedOnly);
      const uint64_t until = i + 1 < modes_.size() ? modes_[i + 1].from_ticks : UINT64_MAX;
      if (!recorded) Add(std::max(modes_[i].from_ticks, from), std::min(until, to), kOff);
    }
  }

  void Add(uint64_t from, uint64_t to, const char* reason) {
    from = std::max(from, from_ticks_);
    to = std::min(to, to_ticks_);
    if (to > from) gaps_.push_back({from, to, reason});
  }

  const uint64_t from_ticks_;
  const uint64_t to_ticks_;
  const std::vector<RecordedMode>& modes_;
  std::vector<CoverageGap> gaps_;
};

}  // namespace

std::vector<CoverageGap> CoverageGaps(const RingWindow& window, int32_t tid, uint64_t from_ticks,
                                      uint64_t to_ticks, const std::vector<RecordedMode>& modes) {
  GapFinder finder(from_ticks, to_ticks, modes);
  finder.Find(window, tid);
  return finder.Take();
}

}  // namespace jankbox

#include "diagnosis/blame/idle_lag.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace jankbox {
namespace {

struct OpenDispatch {
  std::string name;
  uint64_t begin_ticks;
};

class LongestIdle {
 public:
  LongestIdle(uint64_t from_ticks, uint64_t to_ticks, uint64_t least_ticks)
      : from_ticks_(from_ticks), to_ticks_(to_ticks), longest_ticks_(least_ticks) {}

  void Read(const WindowChunk& chunk, bool first) {
    if (first || chunk.gap_before) {
      open_.clear();
      for (const OpenCall& call : chunk.open_calls) {
        if (call.kind == EventKind::kDispatchBegin) open_.push_back({"", call.ticks});
      }
    }
    EventCursor cursor(chunk);
    EventRecord record;
    while (cursor.Next(&record)) {
      if (record.kind == EventKind::kDispatchBegin) {
        open_.push_back({DispatchName(record), record.ticks});
      } else if (record.kind == EventKind::kDispatchEnd && !open_.empty()) {
        Judge(open_.back(), record.ticks);
        open_.pop_back();
      }
    }
  }

  IdleLag Take() {
    for (const OpenDispatch& dispatch : open_) Judge(dispatch, to_ticks_);
    return std::move(lag_);
  }

 private:
  void Judge(const OpenDispatch& dispatch, uint64_t end_ticks) {
    const uint64_t begin = std::max(dispatch.begin_ticks, from_ticks_);
    const uint64_t end = std::min(end_ticks, to_ticks_);
    if (end <= begin || end - begin < longest_ticks_) return;
    if (dispatch.name.compare(0, kIdlePrefixBytes, kIdlePrefix) != 0) return;
    longest_ticks_ = end - begin;
    lag_ = {dispatch.name.substr(kIdlePrefixBytes), longest_ticks_};
  }

  const uint64_t from_ticks_;
  const uint64_t to_ticks_;
  uint64_t longest_ticks_;
  std::vector<OpenDispatch> open_;
  IdleLag lag_;
};

}  // namespace

IdleLag LongestIdleCallback(const RingWindow& window, int32_t tid, uint64_t from_ticks,
                            uint64_t to_ticks, uint64_t least_ticks) {
  LongestIdle longest(from_ticks, to_ticks, std::max<uint64_t>(least_ticks, 1));
  for (const WindowThread& thread : window.threads) {
    if (thread.tid != tid) continue;
    for (size_t i = 0; i < thread.chunks.size(); ++i) longest.Read(thread.chunks[i], i == 0);
  }
  return longest.Take();
}

}  // namespace jankbox

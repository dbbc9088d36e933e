#include "diagnosis/verdict/gc_pauses.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/compact_sort.h"
#include "tracer/event/gc_pause_name.h"
#include "tracer/event/marker_text.h"

namespace jankbox {
namespace {

constexpr std::string_view kWaitOfArt = "GC: Wait For Completion";

// Ticks at which pauses began and ended.
class Pauses {
 public:
  Pauses(const RingWindow& window, const TickConverter& clock) : window_(window), clock_(clock) {}

  void Begin(uint64_t ticks) {
    if (!since_) since_ = ticks;
  }
  void End(uint64_t ticks) {
    if (since_ && ticks > *since_) {
      pauses_.push_back({clock_.ToMonotonicNs(*since_), clock_.ToMonotonicNs(ticks)});
    }
    since_.reset();
  }
  // Events are missing: when it ended is not known.
  void Forget() { since_.reset(); }
  void EndThread() { End(window_.to_ticks); }

  std::vector<GcPause> Take() {
    CompactSort(&pauses_, [](const GcPause& a, const GcPause& b) { return a.from_ns < b.from_ns; });
    size_t kept = 0;
    for (const GcPause& pause : pauses_) {
      if (kept > 0 && pause.from_ns <= pauses_[kept - 1].to_ns) {
        pauses_[kept - 1].to_ns = std::max(pauses_[kept - 1].to_ns, pause.to_ns);
      } else {
        pauses_[kept++] = pause;
      }
    }
    pauses_.resize(kept);
    return std::move(pauses_);
  }

 private:
  const RingWindow& window_;
  const TickConverter& clock_;
  std::optional<uint64_t> since_;
  std::vector<GcPause> pauses_;
};

void AddRecorded(const WindowThread& thread, uint32_t id, Pauses* pauses) {
  for (const WindowChunk& chunk : thread.chunks) {
    if (chunk.gap_before) pauses->Forget();
    EventCursor cursor(chunk);
    EventRecord record;
    while (cursor.Next(&record)) {
      if (record.id != id) continue;
      if (record.kind == EventKind::kBegin) pauses->Begin(record.ticks);
      if (record.kind == EventKind::kEnd) pauses->End(record.ticks);
    }
  }
  pauses->EndThread();
}

void AddMarked(const WindowThread& thread, Pauses* pauses) {
  size_t depth = 0, depth_of_wait = 0;  // of the sections that are open; 0: none
  for (const WindowChunk& chunk : thread.markers) {
    if (chunk.gap_before) {
      pauses->Forget();
      depth = depth_of_wait = 0;
    }
    EventCursor cursor(chunk);
    EventRecord record;
    while (cursor.Next(&record)) {
      if (record.kind != EventKind::kMarker) continue;
      const std::string text = MarkerText(record);
      const MarkerParts marker = ParseMarker(text);
      if (marker.kind == MarkerKind::kBegin) {
        ++depth;
        if (depth_of_wait != 0 || !marker.name.starts_with(kWaitOfArt)) continue;
        depth_of_wait = depth;
        pauses->Begin(record.ticks);
      } else if (marker.kind == MarkerKind::kEnd && depth > 0) {
        if (depth-- != depth_of_wait) continue;
        depth_of_wait = 0;
        pauses->End(record.ticks);
      }
    }
  }
  pauses->EndThread();
}

}  // namespace

std::vector<GcPause> GcPauses(const RingWindow& window, const MethodNames& names, int32_t tid,
                              const TickConverter& clock) {
  const auto pause = std::find_if(names.begin(), names.end(),
                                  [](const auto& name) { return name.second == kGcPauseName; });
  Pauses pauses(window, clock);
  for (const WindowThread& thread : window.threads) {
    if (pause != names.end()) AddRecorded(thread, pause->first, &pauses);
    if (thread.tid == tid) AddMarked(thread, &pauses);
  }
  return pauses.Take();
}

}  // namespace jankbox

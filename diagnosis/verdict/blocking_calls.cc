#include "diagnosis/verdict/blocking_calls.h"

#include <algorithm>

#include "tracer/ring/wait_record.h"

namespace jankbox {
namespace {

class SpanMaker {
 public:
  SpanMaker(const TickConverter& clock, std::vector<WaitSpan>* spans)
      : clock_(clock), spans_(spans) {}

  void Take(const WaitEvent& event, uint64_t ticks) {
    Close(ticks);
    if (!event.end) {
      open_.push_back(event);
    } else if (!open_.empty()) {
      open_.pop_back();
    }
  }

  // Nothing is known of the calls that are open: events are missing.
  void Forget() { open_.clear(); }

  // The innermost call up to now.
  void Close(uint64_t ticks) {
    const uint64_t to_ns = clock_.ToMonotonicNs(ticks);
    if (!open_.empty() && to_ns > since_ns_) {
      spans_->push_back({since_ns_, to_ns, open_.back()});
    }
    since_ns_ = to_ns;
  }

 private:
  const TickConverter& clock_;
  std::vector<WaitSpan>* const spans_;
  std::vector<WaitEvent> open_;
  uint64_t since_ns_ = 0;
};

}  // namespace

std::vector<WaitSpan> BlockingCalls(const RingWindow& window, int32_t tid, uint64_t to_ticks,
                                    const TickConverter& clock) {
  std::vector<WaitSpan> spans;
  for (const WindowThread& thread : window.threads) {
    if (thread.tid != tid) continue;
    SpanMaker maker(clock, &spans);
    for (const WindowChunk& chunk : thread.markers) {
      if (chunk.gap_before) maker.Forget();
      EventCursor cursor(chunk);
      EventRecord record;
      WaitEvent event;
      while (cursor.Next(&record)) {
        if (record.kind != EventKind::kWait || !DecodeWaitRecord(record, &event)) continue;
        maker.Take(event, record.ticks);
      }
    }
    maker.Close(to_ticks);
  }
  // A tid that was given again has two threads in the window.
  std::sort(spans.begin(), spans.end(),
            [](const WaitSpan& a, const WaitSpan& b) { return a.from_ns < b.from_ns; });
  return spans;
}

}  // namespace jankbox

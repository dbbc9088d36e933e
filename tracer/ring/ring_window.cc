#include "tracer/ring/ring_window.h"

#include <algorithm>

namespace jankbox {

size_t ExpectedPayloadWords(EventKind kind, uint32_t id) {
  switch (kind) {
    case EventKind::kBegin:
    case EventKind::kEnd:
    case EventKind::kInstant:
    case EventKind::kDispatchEnd:
      return 0;
    case EventKind::kAsyncBegin:
    case EventKind::kAsyncEnd:
    case EventKind::kCounter:
    case EventKind::kRebase:
      return 2;
    case EventKind::kDispatchBegin:
      return id <= kMaxDispatchNameBytes ? (id + 6) / 7 : SIZE_MAX;
    case EventKind::kFrame:
      return 5;
    case EventKind::kStackSample:
      return id;
    case EventKind::kNone:
    case EventKind::kPayload:
      break;
  }
  return SIZE_MAX;
}

bool EventCursor::Next(EventRecord* record) {
  while (at_ < words_.size()) {
    const uint64_t word = words_[at_];
    const EventKind kind = KindOf(word);
    const size_t count = ExpectedPayloadWords(kind, IdOf(word));
    if (count > words_.size() - at_ - 1) break;
    std::span<const uint64_t> payload = words_.subspan(at_ + 1, count);
    const bool whole = std::all_of(payload.begin(), payload.end(),
                                   [](uint64_t w) { return KindOf(w) == EventKind::kPayload; });
    if (!whole) break;
    at_ += 1 + count;
    if (kind == EventKind::kRebase) {
      base_ticks_ = JoinPayload(payload[0], payload[1]);
      continue;
    }
    *record = {kind, IdOf(word), TicksOf(word, base_ticks_), payload};
    return true;
  }
  torn_ = torn_ || at_ < words_.size();
  at_ = words_.size();
  return false;
}

std::string DispatchName(const EventRecord& record) {
  std::string name;
  for (uint32_t i = 0; i < record.id && i / 7 < record.payload.size(); ++i) {
    name += static_cast<char>(PayloadOf(record.payload[i / 7]) >> (8 * (i % 7)));
  }
  return name;
}

}  // namespace jankbox

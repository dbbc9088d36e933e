#include "tracer/ring/ring_window.h"

#include <algorithm>

#include "tracer/event/frame_event.h"

namespace jankbox {
namespace {

// `bytes` bytes of text, seven a payload word.
std::string TextOf(std::span<const uint64_t> payload, uint32_t bytes) {
  std::string text;
  for (uint32_t i = 0; i < bytes && i / 7 < payload.size(); ++i) {
    text += static_cast<char>(PayloadOf(payload[i / 7]) >> (8 * (i % 7)));
  }
  return text;
}

}  // namespace

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
      return frame_event::WordsOf(id);
    case EventKind::kStackSample:
      return id;
    case EventKind::kMarker: {
      const uint32_t bytes = id & kMarkerLengthMask;
      const size_t carried = (id & kCarriedMarker) != 0 ? 2 : 0;
      return bytes <= kMaxMarkerBytes ? carried + (bytes + 6) / 7 : SIZE_MAX;
    }
    case EventKind::kWait:
    case EventKind::kThread:
      return id & kAsidePayloadMask;
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
    if (kind == EventKind::kMarker && (record->id & kCarriedMarker) != 0) {
      record->ticks = JoinPayload(payload[0], payload[1]);
    }
    return true;
  }
  torn_ = torn_ || at_ < words_.size();
  at_ = words_.size();
  return false;
}

std::string DispatchName(const EventRecord& record) { return TextOf(record.payload, record.id); }

std::string MarkerText(const EventRecord& record) {
  const size_t carried = (record.id & kCarriedMarker) != 0 ? 2 : 0;
  return TextOf(record.payload.subspan(carried), record.id & kMarkerLengthMask);
}

}  // namespace jankbox

#include "tracer/ring/open_markers.h"

#include <algorithm>

#include "base/atomic_word.h"
#include "tracer/event/event.h"
#include "tracer/ring/open_calls.h"

namespace jankbox {
namespace {

constexpr uint32_t kBytesPerWord = 7;

struct OpenMarker {
  const uint64_t* text;
  uint32_t bytes;
  uint64_t ticks;
};

class OpenMarkers {
 public:
  // The marker whose event is at `at`, of whole payload.
  void Apply(const uint64_t* at, uint64_t base) {
    const uint64_t word = LoadRelaxed(at);
    const bool carried = (IdOf(word) & kCarriedMarker) != 0;
    const uint64_t* text = at + (carried ? 3 : 1);
    const uint32_t bytes = IdOf(word) & kMarkerLengthMask;
    if (bytes == 0) return;
    const auto first = static_cast<char>(PayloadOf(LoadRelaxed(text)));
    if (first == 'E' && depth_ > 0) --depth_;
    if (first != 'B') return;
    const uint64_t ticks =
        carried ? JoinPayload(LoadRelaxed(at + 1), LoadRelaxed(at + 2)) : TicksOf(word, base);
    if (depth_ < kMaxCarriedMarkers) markers_[depth_] = {text, bytes, ticks};
    ++depth_;
  }

  uint64_t* WriteTo(uint64_t now, uint64_t* words) const {
    for (uint32_t i = 0; i < std::min(depth_, kMaxCarriedMarkers); ++i) {
      const OpenMarker& marker = markers_[i];
      const uint32_t bytes = std::min(marker.bytes, kMaxCarriedBytes);
      StoreRelaxed(words++, MakeEvent(EventKind::kMarker, bytes | kCarriedMarker, now));
      StoreRelaxed(words++, MakePayload(marker.ticks & kPayloadMask));
      StoreRelaxed(words++, MakePayload(marker.ticks >> 60));
      for (uint32_t n = 0; n * kBytesPerWord < bytes; ++n) {
        StoreRelaxed(words++, LoadRelaxed(marker.text + n));
      }
    }
    return words;
  }

 private:
  OpenMarker markers_[kMaxCarriedMarkers];
  uint32_t depth_ = 0;  // may exceed kMaxCarriedMarkers: those beyond are counted only
};

}  // namespace

uint64_t* CarryOpenMarkers(RingChunk* chunk, const uint64_t* end, uint64_t now, uint64_t* words) {
  OpenMarkers open;
  uint64_t base = chunk->base_ticks;
  for (const uint64_t* at = FirstWord(chunk); at < end;) {
    const uint64_t* event = at++;
    while (at < end && KindOf(LoadRelaxed(at)) == EventKind::kPayload) ++at;
    const uint64_t word = LoadRelaxed(event);
    const auto payload = static_cast<uint64_t>(at - event - 1);
    const uint32_t bytes = IdOf(word) & kMarkerLengthMask;
    const uint64_t needed = ((IdOf(word) & kCarriedMarker) != 0 ? 2u : 0u) +
                            (bytes + kBytesPerWord - 1) / kBytesPerWord;
    if (KindOf(word) == EventKind::kMarker && payload == needed) open.Apply(event, base);
    if (KindOf(word) == EventKind::kRebase && payload == 2) {
      base = JoinPayload(LoadRelaxed(event + 1), LoadRelaxed(event + 2));
    }
  }
  return open.WriteTo(now, words);
}

}  // namespace jankbox

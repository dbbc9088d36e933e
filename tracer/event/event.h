// The eight-byte events of the ring. A word is: bits 0-3 kind, bits 4-27 id (24 bits), bits 28-63
// the low 36 bits of its moment in ticks, which its chunk's base makes whole: a moment is within
// 2^35 ticks of the base. A kind that carries data is followed by payload words, each kind kPayload
// in bits 0-3 and 60 bits of data above. No word is zero, so a chunk of zeros is an empty chunk and
// the first zero ends it. docs/formats/ring.md is the authority.
// NO-ALLOC, SIGNAL-SAFE, THREAD-SAFE (pure functions).
#ifndef JANKBOX_TRACER_EVENT_EVENT_H_
#define JANKBOX_TRACER_EVENT_EVENT_H_

#include <cstddef>
#include <cstdint>

namespace jankbox {

// Payload words that follow, in brackets. A 64-bit value takes two: its low 60 bits, then its
// high 4.
enum class EventKind : uint32_t {
  kNone = 0,
  kBegin = 1,       // id = method
  kEnd = 2,         // id = method
  kAsyncBegin = 3,  // id = method [cookie: 2]
  kAsyncEnd = 4,    // id = method [cookie: 2]
  kCounter = 5,     // id = counter's name [value, two's complement: 2]
  kInstant = 6,     // id = name
  kDispatchBegin =
      7,  // id = bytes of the message's name (0-56) [name, 7 bytes a word, first byte lowest: 0-8]
  kDispatchEnd = 8,   // id = 0
  kFrame = 9,         // id bits 0-3: payload words (0: 5), the rest: frame_event.h
  kStackSample = 10,  // id = payload words [see tracer/sampling/sample_event.h]
  // Only in the marker lane (event_sink.h), so that they never evict calls:
  kMarker = 11,  // id = bytes of the text (0-1024), bit 11: carried over from an older chunk
                 // [carried: its absolute ticks: 2; text, 7 bytes a word, first byte lowest: 0-147]
  kWait = 12,    // id bits 0-3: payload words, bit 4: its end, the rest: wait_event.h
  kThread = 13,  // id bits 0-3: payload words, the rest: thread_event.h
  kRebase = 14,  // id = 0 [absolute ticks: 2]: the base of later words
  kPayload = 15,
};

inline constexpr uint32_t kEventIdBits = 24;
inline constexpr uint32_t kMaxMethodId = (1u << kEventIdBits) - 1;
inline constexpr uint64_t kMaxTickDelta = (uint64_t{1} << 35) - 1;
inline constexpr size_t kMaxDispatchNameBytes = 56;
// Names of dispatches that are idle callbacks start with it.
inline constexpr char kIdlePrefix[] = "idle: ";
inline constexpr size_t kIdlePrefixBytes = sizeof(kIdlePrefix) - 1;
inline constexpr size_t kMaxMarkerBytes = 1024;  // as Android's and the kernel's own limit
inline constexpr uint32_t kMarkerLengthMask = 0x7ff;
inline constexpr uint32_t kCarriedMarker = 0x800;
inline constexpr uint32_t kAsidePayloadMask = 15;
inline constexpr uint32_t kWaitEnd = 16;  // bit of a kWait's id; without it: a start
inline constexpr uint64_t kPayloadMask = (uint64_t{1} << 60) - 1;

inline constexpr uint64_t MakeEvent(EventKind kind, uint32_t id, uint64_t ticks) {
  return ticks << 28 | uint64_t{id} << 4 | static_cast<uint64_t>(kind);
}
inline constexpr uint64_t MakePayload(uint64_t data) {
  return data << 4 | static_cast<uint64_t>(EventKind::kPayload);
}
inline constexpr EventKind KindOf(uint64_t word) { return static_cast<EventKind>(word & 15); }
inline constexpr uint32_t IdOf(uint64_t word) {
  return static_cast<uint32_t>(word >> 4) & kMaxMethodId;
}

// The whole moment of an event whose chunk, or last rebase, has `base`: the one within 2^35 ticks
// of it. A counter that is a little late on another core gives a moment before the base.
inline constexpr uint64_t TicksOf(uint64_t word, uint64_t base) {
  const uint64_t ahead = ((word >> 28) - base) & ((uint64_t{1} << 36) - 1);
  return ahead <= kMaxTickDelta ? base + ahead : base + ahead - (uint64_t{1} << 36);
}

inline constexpr uint64_t PayloadOf(uint64_t word) { return word >> 4; }

// A 64-bit value from two payload words.
inline constexpr uint64_t JoinPayload(uint64_t low, uint64_t high) {
  return PayloadOf(low) | (PayloadOf(high) << 60);
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_EVENT_H_

// A creation, name or end of a thread, as a kThread event: written by Jankbox's watcher some time
// after the fact, so that a thread which records nothing needs no chunk; its moment is in the
// payload. Also the wake-up of a thread's loop, written by the thread that was woken. Id: bits 0-3
// payload words, 4-7 what. Payload: 0: tid (bits 0-31); 1-2: ticks; then, of a creation: 3: the
// parent's tid; 4-5: ticks of the child's first instruction; of a name: 3-5: its 16 bytes, 7 a
// word, first byte lowest; of a wake-up: 3: the tid of the thread that woke it, at the moment of
// the payload. NO-ALLOC, THREAD-SAFE (pure functions).
// docs/formats/ring.md is the authority.
#ifndef JANKBOX_TRACER_EVENT_THREAD_EVENT_H_
#define JANKBOX_TRACER_EVENT_THREAD_EVENT_H_

#include <cstdint>
#include <span>

#include "tracer/event/event.h"

namespace jankbox {

// Numbers are of the ring's format.
enum class ThreadStep : uint32_t {
  kNone = 0,
  kCreated = 1,
  kNamed = 2,
  kEnded = 3,  // its function returned, or called pthread_exit()
  kWoken = 4,  // another thread wrote to the event descriptor that its loop waits for
};

inline constexpr uint32_t kThreadNameBytes = 16;  // TASK_COMM_LEN, with its zero
inline constexpr uint32_t kMaxThreadEventWords = 6;

struct ThreadEvent {
  ThreadStep step = ThreadStep::kNone;
  int32_t tid = 0;
  uint64_t ticks = 0;
  int32_t parent_tid = 0;            // of kCreated; 0: not known
  int32_t waker_tid = 0;             // of kWoken
  uint64_t started_ticks = 0;        // of kCreated
  char name[kThreadNameBytes] = {};  // of kNamed; ends with a zero
};

struct EncodedThreadEvent {
  uint32_t id = 0;
  uint32_t words = 0;
  uint64_t payload[kMaxThreadEventWords] = {};
};

namespace thread_event {
inline constexpr uint32_t kStepShift = 4;
inline constexpr uint32_t kStepMask = 15;
inline constexpr uint32_t kUsedBits = 8;
inline constexpr uint32_t kFixedWords = 3;
inline constexpr uint32_t kBytesPerWord = 7;

inline constexpr uint32_t WordsOf(ThreadStep step) {
  if (step == ThreadStep::kWoken) return kFixedWords + 1;
  return step == ThreadStep::kEnded ? kFixedWords : kMaxThreadEventWords;
}
}  // namespace thread_event

inline constexpr EncodedThreadEvent EncodeThreadEvent(const ThreadEvent& event) {
  EncodedThreadEvent encoded;
  encoded.words = thread_event::WordsOf(event.step);
  encoded.id = encoded.words | static_cast<uint32_t>(event.step) << thread_event::kStepShift;
  encoded.payload[0] = static_cast<uint32_t>(event.tid);
  encoded.payload[1] = event.ticks & kPayloadMask;
  encoded.payload[2] = event.ticks >> 60;
  if (event.step == ThreadStep::kCreated) {
    encoded.payload[3] = static_cast<uint32_t>(event.parent_tid);
    encoded.payload[4] = event.started_ticks & kPayloadMask;
    encoded.payload[5] = event.started_ticks >> 60;
  } else if (event.step == ThreadStep::kWoken) {
    encoded.payload[3] = static_cast<uint32_t>(event.waker_tid);
  } else if (event.step == ThreadStep::kNamed) {
    for (uint32_t i = 0; i + 1 < kThreadNameBytes && event.name[i] != '\0'; ++i) {
      encoded.payload[thread_event::kFixedWords + i / thread_event::kBytesPerWord] |=
          uint64_t{static_cast<uint8_t>(event.name[i])} << (8 * (i % thread_event::kBytesPerWord));
    }
  }
  return encoded;
}

// `payload` has the words' data (PayloadOf). False if they make no sense.
inline constexpr bool DecodeThreadEvent(uint32_t id, std::span<const uint64_t> payload,
                                        ThreadEvent* event) {
  const uint32_t number = id >> thread_event::kStepShift & thread_event::kStepMask;
  if (id >> thread_event::kUsedBits != 0 || number == 0 ||
      number > static_cast<uint32_t>(ThreadStep::kWoken)) {
    return false;
  }
  const auto step = static_cast<ThreadStep>(number);
  if (payload.size() != thread_event::WordsOf(step) || payload.size() != (id & kAsidePayloadMask) ||
      payload[0] > INT32_MAX || payload[2] > 15) {
    return false;
  }
  *event = {.step = step,
            .tid = static_cast<int32_t>(payload[0]),
            .ticks = payload[1] | payload[2] << 60};
  if (step == ThreadStep::kCreated) {
    if (payload[3] > INT32_MAX || payload[5] > 15) return false;
    event->parent_tid = static_cast<int32_t>(payload[3]);
    event->started_ticks = payload[4] | payload[5] << 60;
  } else if (step == ThreadStep::kWoken) {
    if (payload[3] > INT32_MAX) return false;
    event->waker_tid = static_cast<int32_t>(payload[3]);
  } else if (step == ThreadStep::kNamed) {
    for (uint32_t i = 0; i + 1 < kThreadNameBytes; ++i) {
      const uint64_t word = payload[thread_event::kFixedWords + i / thread_event::kBytesPerWord];
      event->name[i] = static_cast<char>(word >> (8 * (i % thread_event::kBytesPerWord)));
    }
  }
  return true;
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_THREAD_EVENT_H_

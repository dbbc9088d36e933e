// A call in which a watched thread may wait (for a lock, another thread or process, a file) as two
// kWait events, one before and one after it. Id: bits 0-3 payload words, 4 set at the end, 5-10
// what, 11-14 class of the descriptor. Payload of a start: owner of the lock, or bytes asked for;
// of an end: result, two's complement; none if that is 0. Never a path, a buffer or an address.
// NO-ALLOC, SIGNAL-SAFE, THREAD-SAFE (pure functions). docs/formats/ring.md is the authority.
#ifndef JANKBOX_TRACER_EVENT_WAIT_EVENT_H_
#define JANKBOX_TRACER_EVENT_WAIT_EVENT_H_

#include <cstdint>
#include <span>

#include "tracer/event/event.h"

namespace jankbox {

// Numbers are of the ring's format. Below kRead: locks, threads and processes; from it on: files.
enum class WaitClass : uint32_t {
  kNone = 0,
  kMutex = 1,
  kReadLock = 2,
  kWriteLock = 3,
  kCondition = 4,
  kSemaphore = 5,
  kJoin = 6,
  kFutex = 7,
  kBinder = 8,  // its start's payload: binder_call.h
  kRead = 16,
  kWrite = 17,
  kReadv = 18,
  kWritev = 19,
  kPread = 20,
  kPwrite = 21,
  kFsync = 22,
  kFdatasync = 23,
  kOpen = 24,
  kClose = 25,
};

struct WaitEvent {
  WaitClass what = WaitClass::kNone;
  bool end = false;
  uint8_t fd_class = 0;   // a StackSample::FdClass; 0 if there is no descriptor
  int32_t owner_tid = 0;  // begin of a lock's or a thread's; 0: not known
  uint64_t bytes = 0;     // begin of a read or a write: asked for
  int64_t result = 0;     // end: bytes read or written, else 0; below 0: -errno
  // Begin of a binder call, if a reader has named it (ring/wait_record.h); else null.
  const char* call = nullptr;
};

struct EncodedWait {
  uint32_t id = 0;
  uint32_t words = 0;  // of `payload`: 0 or 1
  uint64_t payload = 0;
};

namespace wait_event {
inline constexpr uint32_t kClassShift = 5;
inline constexpr uint32_t kClassMask = 63;
inline constexpr uint32_t kFdClassShift = 11;
inline constexpr uint32_t kFdClassMask = 15;
inline constexpr uint32_t kUsedBits = 15;
inline constexpr uint32_t kMaxFdClass = 5;
}  // namespace wait_event

inline constexpr bool IsFileWait(WaitClass what) { return what >= WaitClass::kRead; }

inline constexpr bool IsWaitClass(uint32_t number) {
  return (number >= static_cast<uint32_t>(WaitClass::kMutex) &&
          number <= static_cast<uint32_t>(WaitClass::kBinder)) ||
         (number >= static_cast<uint32_t>(WaitClass::kRead) &&
          number <= static_cast<uint32_t>(WaitClass::kClose));
}

inline constexpr EncodedWait EncodeWait(const WaitEvent& wait) {
  EncodedWait encoded;
  const uint64_t begin_value =
      IsFileWait(wait.what) ? wait.bytes : uint64_t{static_cast<uint32_t>(wait.owner_tid)};
  encoded.payload = (wait.end ? static_cast<uint64_t>(wait.result) : begin_value) & kPayloadMask;
  encoded.words = encoded.payload != 0 ? 1 : 0;
  encoded.id = encoded.words | static_cast<uint32_t>(wait.what) << wait_event::kClassShift |
               (wait.end ? kWaitEnd : 0) |
               (wait.fd_class & wait_event::kFdClassMask) << wait_event::kFdClassShift;
  return encoded;
}

// `payload` has the words' data (PayloadOf). False if they make no sense.
inline constexpr bool DecodeWait(uint32_t id, std::span<const uint64_t> payload, WaitEvent* wait) {
  const uint32_t what = id >> wait_event::kClassShift & wait_event::kClassMask;
  const uint32_t fd_class = id >> wait_event::kFdClassShift & wait_event::kFdClassMask;
  if (id >> wait_event::kUsedBits != 0 || !IsWaitClass(what) ||
      fd_class > wait_event::kMaxFdClass || payload.size() > 1 ||
      payload.size() != (id & kAsidePayloadMask)) {
    return false;
  }
  const uint64_t value = payload.empty() ? 0 : payload[0] & kPayloadMask;
  *wait = {.what = static_cast<WaitClass>(what),
           .end = (id & kWaitEnd) != 0,
           .fd_class = static_cast<uint8_t>(fd_class)};
  if (wait->end) {
    wait->result = static_cast<int64_t>(value << 4) >> 4;  // 60 bits
  } else if (IsFileWait(wait->what)) {
    wait->bytes = value;
  } else {
    if (value > INT32_MAX) return false;
    wait->owner_tid = static_cast<int32_t>(value);
  }
  return true;
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_WAIT_EVENT_H_

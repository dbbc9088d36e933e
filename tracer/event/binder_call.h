// A binder call as the payload of the kWait event that begins it: word 0 is the transaction's code
// (bits 0-31) and the handle of the object that is called (32-59); then the name of its interface,
// 7 bytes a word, first byte lowest, zeros after it; no more words if the caller wrote no name.
// Its end is that of any other wait. NO-ALLOC, SIGNAL-SAFE, THREAD-SAFE (pure functions).
// docs/formats/ring.md is the authority.
#ifndef JANKBOX_TRACER_EVENT_BINDER_CALL_H_
#define JANKBOX_TRACER_EVENT_BINDER_CALL_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "tracer/event/wait_event.h"

namespace jankbox {

inline constexpr size_t kMaxBinderCallWords = kAsidePayloadMask;
inline constexpr size_t kMaxInterfaceBytes = 7 * (kMaxBinderCallWords - 1);  // the rest is cut

struct BinderCall {
  uint32_t code = 0;
  uint32_t handle = 0;
  uint32_t interface_bytes = 0;
  char interface[kMaxInterfaceBytes] = {};

  std::string_view name() const { return {interface, interface_bytes}; }
};

struct EncodedBinderCall {
  uint32_t id = 0;
  uint32_t words = 0;  // of `payload`; 0: none
  uint64_t payload[kMaxBinderCallWords] = {};
};

inline EncodedBinderCall EncodeBinderCall(const BinderCall& call) {
  constexpr uint32_t kMaxHandle = (1u << 28) - 1;
  EncodedBinderCall encoded;
  const size_t bytes = std::min<size_t>(call.interface_bytes, kMaxInterfaceBytes);
  encoded.words = static_cast<uint32_t>(1 + (bytes + 6) / 7);
  encoded.payload[0] = uint64_t{call.code} | uint64_t{std::min(call.handle, kMaxHandle)} << 32;
  for (size_t i = 0; i < bytes; ++i) {
    encoded.payload[1 + i / 7] |= uint64_t{static_cast<uint8_t>(call.interface[i])} << i % 7 * 8;
  }
  encoded.id = encoded.words | static_cast<uint32_t>(WaitClass::kBinder) << wait_event::kClassShift;
  return encoded;
}

// Whether a kWait event of that id begins a binder call.
inline constexpr bool BeginsBinderCall(uint32_t id) {
  constexpr uint32_t kKnown = wait_event::kClassMask << wait_event::kClassShift | kWaitEnd;
  return (id & kKnown) == static_cast<uint32_t>(WaitClass::kBinder) << wait_event::kClassShift;
}

// REQUIRES BeginsBinderCall(id). `payload` has the words' data (PayloadOf). False if they make
// no sense.
inline bool DecodeBinderCall(uint32_t id, std::span<const uint64_t> payload, BinderCall* call) {
  if (id >> wait_event::kFdClassShift != 0 || payload.empty() ||
      payload.size() > kMaxBinderCallWords || payload.size() != (id & kAsidePayloadMask)) {
    return false;
  }
  *call = {.code = static_cast<uint32_t>(payload[0]),
           .handle = static_cast<uint32_t>(payload[0] >> 32)};
  for (const uint64_t word : payload.subspan(1)) {
    for (uint32_t at = 0; at < 7; ++at) {
      const char byte = static_cast<char>(word >> at * 8 & 0xff);
      if (byte == 0) return true;
      call->interface[call->interface_bytes++] = byte;
    }
  }
  return true;
}

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_BINDER_CALL_H_

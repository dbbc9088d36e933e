// The data between a thread and the binder driver in one ioctl: commands to it (BC_…) and
// returns from it (BR_…), as <linux/android/binder.h> lays them out; with 32-bit words, too, which
// 32-bit devices before Android 8 may have. HOT: NO-ALLOC, SIGNAL-SAFE, no system call. Nothing
// outside of the lengths that the buffers name is read; that the buffers are there is up to the
// caller of the ioctl, as it is for the driver.
#ifndef JANKBOX_TRACER_INTERPOSE_BINDER_EXCHANGE_H_
#define JANKBOX_TRACER_INTERPOSE_BINDER_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "tracer/event/binder_call.h"

namespace jankbox {

using BinderBytes = std::span<const uint8_t>;

// Bytes of a word of the driver: 8, or 4; 0 if `request` is not BINDER_WRITE_READ.
inline constexpr uint32_t BinderWordBytes(unsigned long request) {
  constexpr uint32_t kWriteRead = 3u << 30 | 'b' << 8 | 1;  // _IOWR('b', 1, …), without the size
  constexpr uint32_t kWords = 6;                            // of a binder_write_read
  const auto number = static_cast<uint32_t>(request);       // a caller's int may have its sign
  if (number == (kWriteRead | 8 * kWords << 16)) return 8;
  return number == (kWriteRead | 4 * kWords << 16) ? 4 : 0;
}

// A binder_write_read as it is.
struct BinderExchange {
  uint32_t word_bytes = 8;
  const uint8_t* commands = nullptr;
  uint64_t command_bytes = 0;
  uint64_t commands_consumed = 0;  // by the driver
  const uint8_t* returns = nullptr;
  uint64_t return_bytes = 0;    // room for them; 0: the driver is not to wait for any
  uint64_t returns_filled = 0;  // by the driver
};

// REQUIRES `word_bytes` of BinderWordBytes() and its `argument`, which may be null.
BinderExchange ReadBinderExchange(uint32_t word_bytes, const void* argument);

// The calls in the commands that the driver has not consumed yet.
struct BinderCommands {
  bool calls = false;     // there is a transaction that waits for a reply; `call` is the last one
  bool replies = false;   // the thread has served a transaction
  uint64_t call_end = 0;  // consumed from here on, the call is on its way
  BinderCall call;
};
BinderCommands ReadBinderCommands(const BinderExchange& exchange);

// The driver's returns since `from`, the returns that were filled before.
struct BinderReturns {
  uint32_t replies = 0;  // that a call waited for, or that there will be none
  bool serves = false;   // the thread is to serve a transaction first
};
BinderReturns ReadBinderReturns(const BinderExchange& exchange, uint64_t from);

// The interface's name that Parcel::writeInterfaceToken() has put in front of a transaction's data;
// "" (0 bytes) if there is none. libbinder: a string of 16-bit units, after one number (the
// strict mode policy; Android 5 to 9), two (the work source; 10) or three ('SYST' or the like; from
// 11 on). libhwbinder: a C string.
void ReadInterface(BinderBytes data, BinderCall* call);

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_BINDER_EXCHANGE_H_

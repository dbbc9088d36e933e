// Stacks of threads that create others, copied by those threads and unwound later by the watcher.
// A fixed number of places, each used once until the watcher has seen it, and no more than a few a
// second: a flood of threads must not become a flood of unwinding. LOCK-FREE, NO-ALLOC,
// SIGNAL-SAFE.
#ifndef JANKBOX_TRACER_INTERPOSE_CREATION_STACK_H_
#define JANKBOX_TRACER_INTERPOSE_CREATION_STACK_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tracer/unwind/machine.h"

namespace jankbox {

struct CreationStack {
  static constexpr size_t kBytes = 32 * 1024;  // deeper stacks are unwound as far as that goes

  std::atomic<bool> taken{false};
  Registers registers;
  size_t size = 0;                       // bytes copied, from the stack pointer upward
  const void* return_address = nullptr;  // into who called pthread_create()
  alignas(16) std::byte bytes[kBytes] = {};

  StackCopy copy() const { return {registers.Get(machine::kStackPointer), {bytes, size}}; }
};

class CreationStacks {
 public:
  static constexpr size_t kPlaces = 16;
  static constexpr int32_t kPerSecond = 32;

  // A copy of the calling thread's stack as of `registers`; null, counted, if no place is free.
  static CreationStack* Copy(const Registers& registers, const void* return_address);
  static void Release(CreationStack* stack) {
    stack->taken.store(false, std::memory_order_release);  // pairs with the exchange in Copy()
  }

  // Once a second, on the watcher: allows the next few.
  static void Allow(int32_t count = kPerSecond);
  // Copies that were wanted and not made, since the last call.
  static uint64_t TakeDropped();
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_CREATION_STACK_H_

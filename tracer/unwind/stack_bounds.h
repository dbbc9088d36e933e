// The end of the mapping of a thread's stack, from /proc/PID/maps; remembered until a
// stack pointer is elsewhere. One watcher thread; reading allocates nothing.
#ifndef JANKBOX_TRACER_UNWIND_STACK_BOUNDS_H_
#define JANKBOX_TRACER_UNWIND_STACK_BOUNDS_H_

#include <cstdint>

namespace jankbox {

class StackBounds {
 public:
  // One past the mapping of `sp`; 0 if none does or /proc cannot be read.
  uint64_t EndOf(uint64_t sp);

  // Looks again at the next EndOf(): what was read there fell short.
  void Forget() { end_ = 0; }

 private:
  uint64_t start_ = 0;
  uint64_t end_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_STACK_BOUNDS_H_

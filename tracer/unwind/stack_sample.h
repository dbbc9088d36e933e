// One sample of a watched thread: what it was doing and its stack as addresses. Plain data, fixed
// size, no allocation.
#ifndef JANKBOX_TRACER_UNWIND_STACK_SAMPLE_H_
#define JANKBOX_TRACER_UNWIND_STACK_SAMPLE_H_

#include <cstdint>

namespace jankbox {

// kCreation: copied by the thread itself as it created another one; not one of a series over time.
enum class SampleSource : uint8_t { kNone = 0, kPerf = 1, kProc = 2, kSignal = 3, kCreation = 4 };

struct StackSample {
  static constexpr uint32_t kMaxDepth = 128;

  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  int32_t tid = 0;
  SampleSource source = SampleSource::kNone;
  bool running = false;  // on a CPU or wanting one; else inside `syscall`
  int32_t syscall =
      -1;            // number of the system call that it is blocked in; -1 if running or not known
  char state = '?';  // of /proc/self/task/TID/stat: R, S, D, …
  // What the system call waits on: for calls whose first argument is a descriptor, its class.
  enum class FdClass : uint8_t {
    kNone = 0,
    kFile,
    kPipe,
    kSocket,
    kEvent,
    kOther
  } fd_class = FdClass::kNone;
  // Unwinding stopped before the thread's first function. Not of a thread that had or wanted a CPU
  // and was not unwound.
  bool truncated = false;
  bool uncertain = false;  // modules changed, or a frame was repaired, while it was taken
  uint32_t depth = 0;
  // Innermost first. pcs[0] is the interrupted instruction; the rest are return addresses minus
  // one, so that each is inside the call that it represents.
  uint64_t pcs[kMaxDepth] = {};
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_UNWIND_STACK_SAMPLE_H_

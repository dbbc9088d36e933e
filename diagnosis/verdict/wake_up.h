// The end of a wait of an incident's thread, and the thread that ended it. Plain data.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_WAKE_UP_H_
#define JANKBOX_DIAGNOSIS_VERDICT_WAKE_UP_H_

#include <cstdint>
#include <string>

namespace jankbox {

struct WakeUp {
  enum class Evidence : uint8_t {
    kNone,       // unknown who it was: an interrupt, say
    kKernel,     // the wake-up itself (ftrace)
    kLockOwner,  // the thread had the lock that was waited for
    kJoined,     // the thread was waited for
    kLoopWrite,  // the thread wrote to the descriptor that the loop waits for
  };

  Evidence evidence = Evidence::kNone;
  bool starts = false;         // the loop's own wait, for the incident's message
  bool other_process = false;  // a thread of another process did it
  // CLOCK_MONOTONIC.
  uint64_t from_ns = 0;   // of the wait; 0: not known
  uint64_t by_ns = 0;     // when the other thread did it
  uint64_t woken_ns = 0;  // the end of the wait
  int32_t waker_tid = 0;  // of this process; 0: not known
  std::string waker;      // its name; empty if unknown
  std::string function;   // that it was in, recorded or sampled; empty if unknown
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_WAKE_UP_H_

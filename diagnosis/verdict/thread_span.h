// A stretch of a thread's time as the kernel's switches show it. Plain data.
#ifndef JANKBOX_DIAGNOSIS_VERDICT_THREAD_SPAN_H_
#define JANKBOX_DIAGNOSIS_VERDICT_THREAD_SPAN_H_

#include <cstdint>

namespace jankbox {

// Times are CLOCK_MONOTONIC in ns.
struct ThreadSpan {
  enum class State : uint8_t { kRunning, kRunnable, kWaiting };

  uint64_t from_ns = 0;
  uint64_t to_ns = 0;
  State state = State::kRunning;
  // Of kWaiting.
  bool uninterruptible = false;   // state D
  bool stopped = false;           // by a signal or a debugger: state T or t
  bool own_request = false;       // a block request of its own was at the disk
  bool woken_by_process = false;  // a thread of another process ended it, not an interrupt
  int32_t waker_tid = 0;          // who ended it; 0: an interrupt, or not known
};

}  // namespace jankbox

#endif  // JANKBOX_DIAGNOSIS_VERDICT_THREAD_SPAN_H_

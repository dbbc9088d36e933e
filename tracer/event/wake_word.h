// Wakes one thread that waits for a time. A word and no descriptor, which an app might close, or
// have closed before and opened for itself.
#ifndef JANKBOX_TRACER_EVENT_WAKE_WORD_H_
#define JANKBOX_TRACER_EVENT_WAKE_WORD_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>

#include "base/clock.h"

namespace jankbox {

class WakeWord {
 public:
  // Any thread; SIGNAL-SAFE.
  void Wake() {
    const int saved_errno = errno;
    word_.fetch_add(1, std::memory_order_release);
    syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    errno = saved_errno;
  }
  // Until Wake() was called since the last return from here, `ns` at most. One thread.
  void Wait(uint64_t ns) {
    const timespec timeout = {static_cast<time_t>(ns / kNsPerSecond),
                              static_cast<long>(ns % kNsPerSecond)};
    syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen_, &timeout, nullptr, 0);
    seen_ = word_.load(std::memory_order_acquire);
  }

 private:
  std::atomic<uint32_t> word_{0};
  uint32_t seen_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_EVENT_WAKE_WORD_H_

// What one thread has shown so far of being the UI thread of a program whose main thread is not.
// docs/loops.md has the rules with examples: the thread waits for answers of the display's server
// and then, again and again, in a loop for that server's events or for those of SDL, Tcl or Qt,
// while the main thread has no loop of a UI. Used by one thread, which is not the main one;
// NO-ALLOC, no lock, no cancellation point.
#ifndef JANKBOX_MONITORS_LOOPER_UI_THREAD_SIGNS_H_
#define JANKBOX_MONITORS_LOOPER_UI_THREAD_SIGNS_H_

#include <cstdint>

#include "monitors/looper/loop_dispatches.h"

namespace jankbox {

class UiThreadSigns {
 public:
  // Between the two looks that a thread has to pass.
  static constexpr uint64_t kSettleNs = kNsPerSecond;

  // Before each wait. True if Look() is to follow. HOT: no system call.
  bool NoteWait() {
    ++waits_;
    return waits_ <= kFirstWaits || waits_ >= next_check_ || since_ns_ != 0;
  }

  // Before a wait `call`, at `now_ns` of CLOCK_MONOTONIC. How the thread is recognised ("X
  // connection", "SDL events", …); null: not yet. Makes system calls at the eighth wait in a loop,
  // and each time that the number of waits has doubled.
  [[gnu::cold, gnu::noinline]] const char* Look(const WaitCall& call, const LoopDispatches& main,
                                                uint64_t now_ns);

 private:
  static constexpr uint32_t kFirstWaits = 256;  // those of a toolkit's start are among them
  static constexpr uint32_t kFirstCheck = 8;
  static constexpr uint32_t kLooksOfACheck = 16;  // for the wait of a loop among other waits

  uint64_t since_ns_ = 0;  // the first check that was passed; 0: none, or a later one was not
  uint32_t waits_ = 0;
  uint32_t next_check_ = kFirstCheck;
  bool asks_display_ = false;  // it has waited for an answer of the display's server
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_UI_THREAD_SIGNS_H_

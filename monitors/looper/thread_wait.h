// Around one wait of the calling thread: reports it to its LoopDispatches, if it has one, and
// leaves every other thread, and waits inside waits, alone. Shared by the preload agent and the
// SDK's own hooks, each of which has its own copy of the state here. HOT: NO-ALLOC, no lock, errno
// untouched; system calls only at a thread's first wait.
#ifndef JANKBOX_MONITORS_LOOPER_THREAD_WAIT_H_
#define JANKBOX_MONITORS_LOOPER_THREAD_WAIT_H_

#include <errno.h>

#include "base/thread_value.h"
#include "monitors/looper/watched_loops.h"

namespace jankbox {

class ThreadWait {
 public:
  ThreadWait(const DispatchCalls* calls, const WaitCall& call) {
    if (t_inside) return;
    loop_ = WatchedLoops::OfThisThread();
    if (loop_ == nullptr) return;
    t_inside = true;
    own_ = loop_->OnWait(call, calls);
    // Any wait inside a dispatch is a chance to report it: GTK's start-up waits for its display
    // all the time.
    if (!own_) loop_->Announce(calls);
  }

  // The loop's own wait, or the first of a UI that starts up?
  bool own() const { return own_; }

  // The wait has returned.
  void Done(const DispatchCalls* calls) {
    if (loop_ == nullptr) return;
    t_inside = false;
    if (!own_) return;
    const int saved_errno = errno;
    loop_->OnWaitDone(calls);
    errno = saved_errno;
  }

 private:
  static inline JANKBOX_THREAD_VALUE(bool, t_inside, false);

  LoopDispatches* loop_ = nullptr;  // null: not watched, or inside another wait
  bool own_ = false;
};

}  // namespace jankbox

// What a wait function knows of its caller: its own frame begins where the caller's stack pointer
// was.
#define JANKBOX_WAIT_CALL(family, ...) \
  ::jankbox::WaitCall { __builtin_return_address(0), __builtin_dwarf_cfa(), family, __VA_ARGS__ }

// The same for poll and ppoll, whose list may be null.
#define JANKBOX_POLL_CALL(fds, count)                                                 \
  JANKBOX_WAIT_CALL(                                                                  \
      ::jankbox::WaitFamily::kPoll, (fds) != nullptr && (count) > 0 ? (fds)->fd : -1, \
      (fds) != nullptr ? &(fds)->fd : nullptr, (fds) != nullptr ? (count) : 0, sizeof(*(fds)))

// For an event queue's own calls, which know no descriptors.
#define JANKBOX_PUMP_CALL() JANKBOX_WAIT_CALL(::jankbox::WaitFamily::kPump, -1, nullptr, 0, 0)

#endif  // JANKBOX_MONITORS_LOOPER_THREAD_WAIT_H_

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
    // A wait inside is deeper in the stack: a signal handler may have left the other one by a jump.
    if (t_inside != nullptr && call.stack < t_inside) return;
    loop_ = WatchedLoops::OfThisThread();
    if (loop_ == nullptr) return;
    t_inside = call.stack;
    own_ = loop_->OnWait(call, calls);
    // Any wait inside a dispatch is a chance to report it: GTK's start-up waits for its display
    // all the time.
    if (!own_) loop_->Announce(calls);
    needs_recorder_ = calls == nullptr && loop_->NeedsRecorder(call, own_);
  }

  // There is no recorder yet, and it is time to start it.
  bool needs_recorder() const { return needs_recorder_; }

  // The wait has returned.
  void Done(const DispatchCalls* calls) {
    if (loop_ == nullptr) return;
    t_inside = nullptr;
    if (!own_) return;
    const int saved_errno = errno;
    loop_->OnWaitDone(calls);
    errno = saved_errno;
  }

 private:
  static inline JANKBOX_THREAD_VALUE(const void*, t_inside, nullptr);  // its caller's stack pointer

  LoopDispatches* loop_ = nullptr;  // null: not watched, or inside another wait
  bool own_ = false;                // the loop's own wait, or the first of a UI that starts up
  bool needs_recorder_ = false;
};

}  // namespace jankbox

// What a wait function knows of its caller: its own frame begins where the caller's stack pointer
// was.
#define JANKBOX_WAIT_CALL(wait_family, ...)                                   \
  ::jankbox::WaitCall {                                                       \
    .call_site = __builtin_return_address(0), .stack = __builtin_dwarf_cfa(), \
    .family = ::jankbox::WaitFamily::wait_family __VA_OPT__(, ) __VA_ARGS__   \
  }

// For poll and ppoll, whose list may be null.
#define JANKBOX_POLL_CALL(list, count, at_once)                                               \
  JANKBOX_WAIT_CALL(kPoll, .fd = (list) != nullptr && (count) > 0 ? (list)->fd : -1,          \
                    .fds = (list) != nullptr ? &(list)->fd : nullptr,                         \
                    .fd_count = (list) != nullptr ? ::jankbox::WaitCall::Readable(count) : 0, \
                    .fd_stride = sizeof(*(list)), .returns_at_once = (at_once))

#define JANKBOX_EPOLL_CALL(epoll_fd, at_once) \
  JANKBOX_WAIT_CALL(kEpoll, .fd = (epoll_fd), .returns_at_once = (at_once))

#define JANKBOX_SELECT_CALL(bits, read, write, except, at_once)                                 \
  JANKBOX_WAIT_CALL(kSelect, .returns_at_once = (at_once), .sets = {(read), (write), (except)}, \
                    .set_bits = (bits))

// For a read of a terminal.
#define JANKBOX_READ_CALL(descriptor) JANKBOX_WAIT_CALL(kRead, .fd = (descriptor))

// For the calls of an event queue of `library`, which know no descriptors.
#define JANKBOX_PUMP_CALL(library) JANKBOX_WAIT_CALL(kPump, .pump_name = (library))

// Whether a wait with this timeout returns at once. Null waits for ever.
#define JANKBOX_IS_ZERO(timeout, fraction) \
  ((timeout) != nullptr && (timeout)->tv_sec == 0 && (timeout)->fraction == 0)

#endif  // JANKBOX_MONITORS_LOOPER_THREAD_WAIT_H_

// Around one wait of the calling thread: tells the main thread's LoopDispatches of it, and leaves
// every other thread, and waits inside waits, alone. Shared by the preload agent and the SDK's own
// hooks, each of which has its own copy of the state here. HOT: NO-ALLOC, no lock, errno untouched;
// one system call in a thread's life.
#ifndef JANKBOX_MONITORS_LOOPER_MAIN_THREAD_WAIT_H_
#define JANKBOX_MONITORS_LOOPER_MAIN_THREAD_WAIT_H_

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitors/looper/loop_dispatches.h"

#if defined(__ANDROID__)
#define JANKBOX_WAIT_TLS inline thread_local
#else
#define JANKBOX_WAIT_TLS __attribute__((tls_model("initial-exec"))) inline thread_local
#endif

namespace jankbox {

class MainThreadWait {
 public:
  MainThreadWait(LoopDispatches* loop, const DispatchCalls* calls, const WaitCall& call)
      : loop_(loop) {
    if (t_inside || !OnMainThread()) return;
    t_inside = true;
    outermost_ = true;
    own_ = loop_->OnWait(call, calls);
    // Any wait inside a dispatch is a chance to tell of it: GTK's start-up waits for its display
    // all the time.
    if (!own_) loop_->Announce(calls);
  }

  // The loop's own wait, or the first of a UI that starts up?
  bool own() const { return own_; }

  // The wait has returned.
  void Done(const DispatchCalls* calls) {
    if (!outermost_) return;
    t_inside = false;
    if (!own_) return;
    const int saved_errno = errno;
    loop_->OnWaitDone(calls);
    errno = saved_errno;
  }

  static bool OnMainThread() {
    if (__builtin_expect(t_role == Role::kNotAsked, 0)) {
      const int saved_errno = errno;
      t_role = syscall(SYS_gettid) == getpid() ? Role::kMain : Role::kOther;
      errno = saved_errno;
    }
    return t_role == Role::kMain;
  }

  // FORK: the child's only thread is its main thread, whatever it was in the parent.
  static void ForgetRole() { t_role = Role::kNotAsked; }

 private:
  enum class Role : uint8_t { kNotAsked, kMain, kOther };

  static JANKBOX_WAIT_TLS constinit Role t_role = Role::kNotAsked;
  static JANKBOX_WAIT_TLS constinit bool t_inside = false;

  LoopDispatches* loop_;
  bool outermost_ = false;
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

#endif  // JANKBOX_MONITORS_LOOPER_MAIN_THREAD_WAIT_H_

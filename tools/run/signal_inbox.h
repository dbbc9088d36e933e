// Signals of `jankbox run` as events to read. While it lives, the signals that the command passes
// on are blocked in this process and arrive at fd(); SIGPIPE and SIGTTOU are blocked too, so that a
// lost reader or terminal of jankbox's lines cannot end or stop it. FORK: the child calls
// RestoreInChild(). REQUIRES: opened before other threads start. Threads: one.
#ifndef JANKBOX_TOOLS_RUN_SIGNAL_INBOX_H_
#define JANKBOX_TOOLS_RUN_SIGNAL_INBOX_H_

#include <signal.h>
#include <sys/signalfd.h>

#include <memory>
#include <optional>

#include "base/scoped_fd.h"
#include "base/status.h"

namespace jankbox::tools {

class SignalInbox {
 public:
  static Result<std::unique_ptr<SignalInbox>> Open();
  SignalInbox(const SignalInbox&) = delete;
  SignalInbox& operator=(const SignalInbox&) = delete;

  int fd() const { return fd_.get(); }

  // The next signal that arrived; nullopt if none is waiting.
  std::optional<signalfd_siginfo> Next();

  // True for a signal that was meant only for the program. The terminal sends its signals to the
  // whole foreground group: the program has them already.
  static bool ShouldForward(const signalfd_siginfo& signal);

  // SIGNAL-SAFE. Mask and dispositions as this process was started with.
  void RestoreInChild() const;

 private:
  SignalInbox() = default;

  ScopedFd fd_;
  sigset_t original_mask_{};
  struct sigaction original_child_action_ {};
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_SIGNAL_INBOX_H_

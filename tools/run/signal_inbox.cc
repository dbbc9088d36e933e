#include "tools/run/signal_inbox.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace jankbox::tools {
namespace {

constexpr int kForwarded[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};

}  // namespace

Result<std::unique_ptr<SignalInbox>> SignalInbox::Open() {
  std::unique_ptr<SignalInbox> inbox(new SignalInbox());
  sigset_t read_set;
  sigemptyset(&read_set);
  for (int signal : kForwarded) sigaddset(&read_set, signal);
  sigaddset(&read_set, SIGCHLD);
  sigset_t blocked = read_set;
  sigaddset(&blocked, SIGPIPE);
  sigaddset(&blocked, SIGTTOU);
  pthread_sigmask(SIG_BLOCK, &blocked, &inbox->original_mask_);
  // An inherited SIG_IGN would reap the program before its status is read.
  struct sigaction default_action {};
  default_action.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &default_action, &inbox->original_child_action_);
  inbox->fd_.Reset(signalfd(-1, &read_set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!inbox->fd_.valid()) return Status::FromErrno(errno, "signalfd");
  return inbox;
}

std::optional<signalfd_siginfo> SignalInbox::Next() {
  signalfd_siginfo signal{};
  if (read(fd_.get(), &signal, sizeof(signal)) != sizeof(signal)) return std::nullopt;
  return signal;
}

bool SignalInbox::ShouldForward(const signalfd_siginfo& signal) {
  const int number = static_cast<int>(signal.ssi_signo);
  const bool forwarded =
      std::find(std::begin(kForwarded), std::end(kForwarded), number) != std::end(kForwarded);
  return forwarded && signal.ssi_code != SI_KERNEL;
}

void SignalInbox::RestoreInChild() const {
  sigaction(SIGCHLD, &original_child_action_, nullptr);
  pthread_sigmask(SIG_SETMASK, &original_mask_, nullptr);
}

}  // namespace jankbox::tools

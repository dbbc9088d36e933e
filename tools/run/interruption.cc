#include "tools/run/interruption.h"

#include <signal.h>
#include <unistd.h>

#include <optional>

namespace jankbox::tools {

Result<std::unique_ptr<Interruption>> Interruption::Open() {
  Result<std::unique_ptr<SignalInbox>> inbox = SignalInbox::Open();
  if (!inbox.ok()) return inbox.status();
  return std::unique_ptr<Interruption>(new Interruption(std::move(inbox.value())));
}

bool Interruption::asked() {
  while (const std::optional<signalfd_siginfo> signal = inbox_->Next()) {
    const int number = static_cast<int>(signal->ssi_signo);
    const bool ends =
        number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
    if (ends && signal_ == 0) signal_ = number;
  }
  return signal_ != 0;
}

Interrupt Interruption::source() {
  return {inbox_->fd(), [this] { return asked(); }};
}

int Interruption::End(int status) {
  if (!asked()) return status;
  inbox_->RestoreInChild();
  ::signal(signal_, SIG_DFL);
  kill(getpid(), signal_);
  return 128 + signal_;  // as a shell says it
}

}  // namespace jankbox::tools

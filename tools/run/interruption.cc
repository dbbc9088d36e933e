#include "tools/run/interruption.h"

#include <signal.h>

#include <optional>

#include "tools/run/own_end.h"

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
  return EndBySignal(signal_);
}

}  // namespace jankbox::tools

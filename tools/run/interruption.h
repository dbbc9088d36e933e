// The terminal's interrupt key, and other requests to end, as something to look at: while it lives
// they do not end the command, which puts back what it lent and then ends as asked. REQUIRES:
// opened before other threads start. Threads: one.
#ifndef JANKBOX_TOOLS_RUN_INTERRUPTION_H_
#define JANKBOX_TOOLS_RUN_INTERRUPTION_H_

#include <memory>
#include <utility>

#include "base/process_runner.h"
#include "base/status.h"
#include "tools/run/signal_inbox.h"

namespace jankbox::tools {

class Interruption {
 public:
  static Result<std::unique_ptr<Interruption>> Open();

  // True from the first SIGINT, SIGTERM, SIGHUP or SIGQUIT on.
  bool asked();

  // For those who wait. This outlives it.
  Interrupt source();

  // `status`, if nothing was asked; else ends this process by the signal that asked.
  int End(int status);

 private:
  explicit Interruption(std::unique_ptr<SignalInbox> inbox) : inbox_(std::move(inbox)) {}

  std::unique_ptr<SignalInbox> inbox_;
  int signal_ = 0;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_INTERRUPTION_H_

// Receives the errors of all agents of a process tree: an abstract datagram socket whose name is in
// their environment (JANKBOX_RUN_SOCKET). Datagrams are texts "error: …"; those of other
// users are ignored. Threads: one; never waits.
#ifndef JANKBOX_TOOLS_TERMINAL_ERROR_CHANNEL_H_
#define JANKBOX_TOOLS_TERMINAL_ERROR_CHANNEL_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/scoped_fd.h"
#include "base/status.h"

namespace jankbox::tools {

class ErrorChannel {
 public:
  static Result<std::unique_ptr<ErrorChannel>> Open();

  int fd() const { return fd_.get(); }
  // Without the leading NUL of abstract names.
  const std::string& name() const { return name_; }

  // The next error, without its "error: "; nullopt if none is waiting.
  std::optional<std::string> Next();

 private:
  ErrorChannel(ScopedFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  ScopedFd fd_;
  std::string name_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_ERROR_CHANNEL_H_

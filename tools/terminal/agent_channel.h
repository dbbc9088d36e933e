// Receives what the agents of a process tree say: an abstract datagram socket whose name is in
// their environment (JANKBOX_RUN_SOCKET). Datagrams are texts "error: …", "watched: …",
// "counted: …" and "instance: …" (sdk/runtime/run_channel), "possible: …" (sdk/linux/unreported.h),
// "recognised: …" (sdk/linux/ui_thread_search) and "java: …" (sdk/linux/java_ui.h); those of other
// users are ignored. Threads: one; never waits.
#ifndef JANKBOX_TOOLS_TERMINAL_AGENT_CHANNEL_H_
#define JANKBOX_TOOLS_TERMINAL_AGENT_CHANNEL_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/scoped_fd.h"
#include "base/status.h"

namespace jankbox::tools {

struct AgentMessage {
  enum class Kind { kError, kWatched, kInstance, kPossible, kRecognised, kJava, kCounted };
  Kind kind = Kind::kError;
  std::string text;  // without what stands for the kind
};

class AgentChannel {
 public:
  // `parent`: agents of its children are to record; 0: all agents. It is in the socket's name.
  static Result<std::unique_ptr<AgentChannel>> Open(pid_t parent);

  int fd() const { return fd_.get(); }
  // Without the leading NUL of abstract names.
  const std::string& name() const { return name_; }

  // nullopt if none is waiting.
  std::optional<AgentMessage> Next();

 private:
  AgentChannel(ScopedFd fd, std::string name) : fd_(std::move(fd)), name_(std::move(name)) {}

  ScopedFd fd_;
  std::string name_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_AGENT_CHANNEL_H_

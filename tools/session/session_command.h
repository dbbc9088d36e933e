// `jankbox session`: puts the preload agent into the environment of the programs that the user's
// systemd starts from now on, and takes it out again. The unit jankbox-session.service calls it; it
// is off by default. docs/session.md has the limits.
#ifndef JANKBOX_TOOLS_SESSION_SESSION_COMMAND_H_
#define JANKBOX_TOOLS_SESSION_SESSION_COMMAND_H_

#include <string>

namespace jankbox::tools {

struct SessionOptions {
  std::string action;  // "start", "stop" or "status"
};

// Returns the exit status: 0; 1 if the environment cannot be changed, and for "status" if the
// session is not recorded.
int RunSession(const SessionOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_SESSION_SESSION_COMMAND_H_

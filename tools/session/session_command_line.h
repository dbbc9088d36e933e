// The command line of `jankbox session`.
#ifndef JANKBOX_TOOLS_SESSION_SESSION_COMMAND_LINE_H_
#define JANKBOX_TOOLS_SESSION_SESSION_COMMAND_LINE_H_

#include <CLI/CLI.hpp>

#include "tools/session/session_command.h"

namespace jankbox::tools {

void AddSession(CLI::App* app, SessionOptions* options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_SESSION_SESSION_COMMAND_LINE_H_

// The command line of `jankbox`: subcommands, options and help.
#ifndef JANKBOX_TOOLS_JANKBOX_COMMAND_LINE_H_
#define JANKBOX_TOOLS_JANKBOX_COMMAND_LINE_H_

#include <string>
#include <vector>

namespace jankbox::tools {

// Parses and does what it says; returns the exit status (exit_code.h).
int RunCommandLine(const std::vector<std::string>& arguments);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_JANKBOX_COMMAND_LINE_H_

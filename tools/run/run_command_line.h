// The options of `jankbox run`, and the place at which its own words end and its program's begin.
#ifndef JANKBOX_TOOLS_RUN_RUN_COMMAND_LINE_H_
#define JANKBOX_TOOLS_RUN_RUN_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tools/run/run_command.h"

namespace jankbox::tools {

// `options` outlives `app`.
void AddRun(CLI::App* app, RunOptions* options);

// Parses `arguments`, the first of which is "run", and does what they say; returns the exit status.
int RunFromCommandLine(const std::vector<std::string>& arguments);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_RUN_COMMAND_LINE_H_

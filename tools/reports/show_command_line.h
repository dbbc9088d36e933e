// The command line of `jankbox show`.
#ifndef JANKBOX_TOOLS_REPORTS_SHOW_COMMAND_LINE_H_
#define JANKBOX_TOOLS_REPORTS_SHOW_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <string>

#include "tools/reports/show_command.h"

namespace jankbox::tools {

// The folder or the collector in which an id is looked up.
void AddPlace(CLI::App* command, std::string* place);

void AddShow(CLI::App* app, ShowOptions* options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_REPORTS_SHOW_COMMAND_LINE_H_

// The command line of `jankbox symbolize`.
#ifndef JANKBOX_TOOLS_SYMBOLIZE_SYMBOLIZE_COMMAND_LINE_H_
#define JANKBOX_TOOLS_SYMBOLIZE_SYMBOLIZE_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <string>

#include "tools/symbolize/symbolize_command.h"

namespace jankbox::tools {

void AddSymbolize(CLI::App* app, SymbolizeOptions* options);

// What is wrong with the options together; empty if nothing is.
std::string SymbolizeUsageError(const SymbolizeOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_SYMBOLIZE_SYMBOLIZE_COMMAND_LINE_H_

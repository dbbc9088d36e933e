// The command as CLI11 parses it: its name, the look of its help, and what it says of wrong usage.
#ifndef JANKBOX_TOOLS_TERMINAL_COMMAND_APP_H_
#define JANKBOX_TOOLS_TERMINAL_COMMAND_APP_H_

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace jankbox::tools {

// `jankbox` without its commands; exactly one of them must be given.
std::unique_ptr<CLI::App> MakeCommandApp();

// Prints `message` and which --help to read; `command` is "" or a command's name. Returns
// kExitUsage.
int UsageError(const std::string& message, const std::string& command);

// Prints what --help or --version asked for, or the error. Returns the exit status.
int ParseFailed(const CLI::App& app, const CLI::ParseError& error);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_COMMAND_APP_H_

// The subcommands of `jankbox` that speak to a phone: their options and their help.
#ifndef JANKBOX_TOOLS_ADB_ADB_COMMAND_LINE_H_
#define JANKBOX_TOOLS_ADB_ADB_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <string>

#include "tools/adb/pull_command.h"
#include "tools/adb/record_command.h"

namespace jankbox::tools {

void AddRecord(CLI::App* app, RecordOptions* options);
void AddPull(CLI::App* app, PullOptions* options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ADB_ADB_COMMAND_LINE_H_

// The output of a subcommand: a file that is written completely or not at all, or a stream. Blocks
// on the disk.
#ifndef JANKBOX_TOOLS_TERMINAL_OUTPUT_FILE_H_
#define JANKBOX_TOOLS_TERMINAL_OUTPUT_FILE_H_

#include <functional>
#include <string>

#include "base/status.h"

namespace jankbox::tools {

// `path`: "-" is stdout; a device or a pipe is written as it is; else a file appears once `write`
// has returned Ok, with the permissions that open(2) would give it. An existing file is replaced
// only by `force`.
Status WriteOutputFile(const std::string& path, bool force,
                       const std::function<Status(int fd)>& write);

// Whether WriteOutputFile() would refuse to replace `path`: for what takes long before it writes.
Status CheckOutputFile(const std::string& path, bool force);

// Whether `path` is stdout, if nothing else may be printed then.
bool IsStdout(const std::string& path);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_OUTPUT_FILE_H_

// `jankbox attach`: watches the loops of a process that runs already, from outside. Nothing is
// loaded into the process, it is never stopped, and nothing of the watching remains after it.
#ifndef JANKBOX_TOOLS_ATTACH_ATTACH_COMMAND_H_
#define JANKBOX_TOOLS_ATTACH_ATTACH_COMMAND_H_

#include "tools/attach/attach_options.h"

namespace jankbox::tools {

// 0 after a watch that ended as it should; 1 if the process cannot be watched.
int RunAttach(const AttachOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_ATTACH_COMMAND_H_

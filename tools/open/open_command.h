// `jankbox show --open`: a report's trace in Perfetto's UI, at the incident. Serves it on 127.0.0.1
// until the UI has it, or with a viewer's folder until it is interrupted.
#ifndef JANKBOX_TOOLS_OPEN_OPEN_COMMAND_H_
#define JANKBOX_TOOLS_OPEN_OPEN_COMMAND_H_

#include "tools/reports/show_command.h"

namespace jankbox::tools {

// Returns an exit status (exit_code.h), or ends by the signal that interrupted it.
int RunOpen(const ShowOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_OPEN_OPEN_COMMAND_H_

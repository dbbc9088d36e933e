// Long texts for someone at a terminal.
#ifndef JANKBOX_TOOLS_TERMINAL_PAGER_H_
#define JANKBOX_TOOLS_TERMINAL_PAGER_H_

#include <string_view>

namespace jankbox::tools {

// Writes `text` to stdout: through $PAGER, else less, if stdout is a terminal that is too low for
// it. An empty PAGER, or "cat", means no pager. False, with one line on stderr, if that fails.
bool WritePaged(std::string_view text);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_PAGER_H_

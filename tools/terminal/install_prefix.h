// The place of the other files that were installed with this program.
#ifndef JANKBOX_TOOLS_TERMINAL_INSTALL_PREFIX_H_
#define JANKBOX_TOOLS_TERMINAL_INSTALL_PREFIX_H_

#include <string>

namespace jankbox::tools {

// The folder that holds the bin/ or the libexec/jankbox/ of this program. "" if unknown.
std::string InstallPrefix();

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_INSTALL_PREFIX_H_

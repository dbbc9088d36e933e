// The command's exit statuses; --help lists them. `run` passes on its program's own.
#ifndef JANKBOX_TOOLS_TERMINAL_EXIT_CODE_H_
#define JANKBOX_TOOLS_TERMINAL_EXIT_CODE_H_

namespace jankbox::tools {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotExecutable = 126;  // as shells and env(1)
inline constexpr int kExitNotFound = 127;

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_TERMINAL_EXIT_CODE_H_

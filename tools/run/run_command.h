// `jankbox run`: an unmodified program under the preload agent. Its output, input, signals and exit
// status pass through unchanged; the command's own lines go to stderr. If recording is not
// possible one error says why, and the program runs all the same.
#ifndef JANKBOX_TOOLS_RUN_RUN_COMMAND_H_
#define JANKBOX_TOOLS_RUN_RUN_COMMAND_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jankbox::tools {

struct RunOptions {
  std::string directory;  // of the reports; empty: the default folder
  // None: the program's own, else the environment's, else 100 ms.
  std::optional<uint32_t> slow_ms;
  std::optional<uint32_t> anr_ms;
  std::optional<uint32_t> window_s;
  std::string upload_url;  // empty: nothing is sent
  std::optional<uint32_t> min_free_mib;
  bool quiet = false;     // only errors
  bool children = false;  // programs that the program starts are recorded, too
  // Of all these only the programs of these names, with a comma between and "*" at the end for any
  // rest. "": as `children` says.
  std::string only;
  std::vector<std::string> threads;  // names of threads whose loops are watched besides main's
  bool startup = false;  // recording begins before main(), and not when a loop waits first
  bool java = false;     // the event threads of AWT are watched in Java VMs
  bool js = false;       // JavaScript functions of Node.js are named
  std::vector<std::string> program;
};

// Returns the program's exit status, or ends by the signal that ended the program.
int RunProgram(const RunOptions& options);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_RUN_COMMAND_H_

// `jankbox run`, and the way to all other commands: they are a program of their own, since the
// libraries that they link would delay the start of the program that `run` records.
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <cstring>
#include <string>

#include "tools/run/run_command_line.h"
#include "tools/terminal/exit_code.h"
#include "tools/terminal/install_prefix.h"
#include "tools/terminal/terminal.h"

int main(int argc, char** argv) {
  using namespace jankbox::tools;
  setlocale(LC_CTYPE, "C.UTF-8");  // widths of characters
  if (argc > 1 && strcmp(argv[1], "run") == 0) {
    return RunFromCommandLine({argv + 1, argv + argc});
  }
  const std::string commands = InstallPrefix() + "/libexec/jankbox/jankbox-commands";
  execv(commands.c_str(), argv);
  PrintError(commands + ": " + strerror(errno) + " (it belongs to jankbox: install both again)");
  return kExitFailed;
}

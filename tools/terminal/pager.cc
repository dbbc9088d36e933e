#include "tools/terminal/pager.h"

#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/terminal/terminal.h"

namespace jankbox::tools {
namespace {

constexpr int kNotFound = 127;  // the shell's exit status for a missing command

bool FitsTerminal(std::string_view text) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) return true;
  return std::count(text.begin(), text.end(), '\n') < size.ws_row;
}

}  // namespace

bool WritePaged(std::string_view text) {
  const char* chosen = getenv("PAGER");
  const std::string pager = chosen != nullptr ? chosen : "less";
  if (pager.empty() || pager == "cat" || !isatty(STDOUT_FILENO) || FitsTerminal(text)) {
    return WriteText(STDOUT_FILENO, text);
  }
  setenv("LESS", "FRX", 0);  // colours as they are, and no pager for a text that fits
  FILE* pipe = popen(pager.c_str(), "we");
  int status = -1;
  if (pipe != nullptr) {
    // The reader may leave early; and Ctrl-C is the pager's.
    const auto before_pipe = signal(SIGPIPE, SIG_IGN);
    const auto before_interrupt = signal(SIGINT, SIG_IGN);
    (void)fwrite(text.data(), 1, text.size(), pipe);
    status = pclose(pipe);
    signal(SIGINT, before_interrupt);
    signal(SIGPIPE, before_pipe);
  }
  if (status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) == kNotFound)) return true;
  return WriteText(STDOUT_FILENO, text);
}

}  // namespace jankbox::tools

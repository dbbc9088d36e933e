// Which descriptors are the terminal that the program's user types into. Cold: system calls.
#ifndef JANKBOX_MONITORS_LOOPER_USER_TERMINAL_H_
#define JANKBOX_MONITORS_LOOPER_USER_TERMINAL_H_

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdint>

namespace jankbox {

// A bit for each descriptor below 16: standard input if it is a terminal, and what was opened of
// /dev/tty or of that terminal again. Output and errors may be redirected to nobody's eyes.
inline uint64_t UsersTerminals() {
  const dev_t any_terminal = makedev(5, 0);  // /dev/tty: the process's own one
  struct stat input {};
  struct stat file {};
  const bool is_terminal = isatty(STDIN_FILENO) == 1 && fstat(STDIN_FILENO, &input) == 0;
  uint64_t found = is_terminal ? 1 : 0;
  for (int fd = STDERR_FILENO + 1; fd < 16; ++fd) {
    if (fstat(fd, &file) != 0 || !S_ISCHR(file.st_mode)) continue;
    const bool same = is_terminal && file.st_rdev == input.st_rdev;
    if (file.st_rdev == any_terminal || same) found |= uint64_t{1} << fd;
  }
  return found;
}

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_USER_TERMINAL_H_

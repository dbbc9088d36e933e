// Whether a system call may be tried that an old filter does not know. NO-ALLOC; three system
// calls.
#ifndef JANKBOX_BASE_FILES_SECCOMP_H_
#define JANKBOX_BASE_FILES_SECCOMP_H_

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace jankbox {

// A filter may kill the process for a system call that it does not know, also for asking prctl().
// True if /proc does not say.
inline bool MayBeFiltered() {
  char text[4096];
  const int fd = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  const ssize_t bytes = read(fd, text, sizeof(text) - 1);
  close(fd);
  text[bytes > 0 ? bytes : 0] = '\0';
  return strstr(text, "\nSeccomp:\t0\n") == nullptr;
}

}  // namespace jankbox

#endif  // JANKBOX_BASE_FILES_SECCOMP_H_

#include <sys/stat.h>

#include "tracer/sampling/fd_class.h"

namespace jankbox {

// fstat: the system call filter of older releases ends an app that calls statx.
bool ReadFdMode(int fd, uint32_t* mode) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return false;
  *mode = status.st_mode;
  return true;
}

}  // namespace jankbox

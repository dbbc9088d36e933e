#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>

#include "base/files/fd_table.h"
#include "base/recorded_process.h"
#include "tracer/sampling/fd_class.h"

namespace jankbox {

// statx without synchronising: fstat may ask a server that hangs, and the app is overdue already.
bool ReadFdMode(int fd, uint32_t* mode) {
  struct statx status {};
  char path[48] = "";  // the descriptor itself
  if (!RecordedProcess::IsThis() || FdTable::OfThisThread() != FdTable::kOfTheApp) {
    snprintf(path, sizeof(path), "%s/fd/%d", RecordedProcess::folder(), fd);
  }
  if (statx(fd, path, AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status) != 0) return false;
  *mode = status.stx_mode;
  return true;
}

}  // namespace jankbox

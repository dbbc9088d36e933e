#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "uploader/counts/file_birth.h"

namespace jankbox {

uint64_t FileBirthNs(int fd) {
  struct statx file {};
  const bool known = statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &file) == 0 &&
                     (file.stx_mask & STATX_BTIME) != 0 && file.stx_btime.tv_sec > 0;
  if (!known) return 0;
  return static_cast<uint64_t>(file.stx_btime.tv_sec) * kNsPerSecond + file.stx_btime.tv_nsec;
}

}  // namespace jankbox

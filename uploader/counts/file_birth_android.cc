#include <dlfcn.h>
#include <fcntl.h>
#include <linux/stat.h>

#include "base/clock.h"
#include "uploader/counts/file_birth.h"

namespace jankbox {

// bionic has statx() from API 30 on. Before it an app's seccomp filter kills the process for the
// system call, so it is never made directly.
uint64_t FileBirthNs(int fd) {
  using Statx = int (*)(int, const char*, int, unsigned, struct statx*);
  static const auto statx_of_bionic = reinterpret_cast<Statx>(dlsym(RTLD_DEFAULT, "statx"));
  struct statx file {};
  const bool known = statx_of_bionic != nullptr &&
                     statx_of_bionic(fd, "", AT_EMPTY_PATH, STATX_BTIME, &file) == 0 &&
                     (file.stx_mask & STATX_BTIME) != 0 && file.stx_btime.tv_sec > 0;
  if (!known) return 0;
  return static_cast<uint64_t>(file.stx_btime.tv_sec) * kNsPerSecond + file.stx_btime.tv_nsec;
}

}  // namespace jankbox

#include "tracer/ftrace/tracefs_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/scoped_fd.h"

namespace jankbox {
namespace {

// The mount points of systemd and Android; before Linux 4.1 it was below debugfs.
constexpr const char* kMountPoints[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

constexpr ino_t kInitialPidNamespace = 0xEFFFFFFC;  // PROC_PID_INIT_INO, linux/proc_ns.h

bool InInitialPidNamespace() {
  struct stat st {};
  return stat("/proc/self/ns/pid", &st) != 0 || st.st_ino == kInitialPidNamespace;
}

}  // namespace

Result<std::string> FindTracefs() {
  int refused = 0;
  std::string refused_at;
  for (const char* mount_point : kMountPoints) {
    const std::string instances = std::string(mount_point) + "/instances";
    if (faccessat(AT_FDCWD, instances.c_str(), W_OK | X_OK, AT_EACCESS) == 0) {
      if (InInitialPidNamespace()) return std::string(mount_point);
      return Status(StatusCode::kUnsupported,
                    "the process is in a pid namespace, so the kernel uses other thread ids");
    }
    if (errno != ENOENT && refused == 0) {
      refused = errno;
      refused_at = mount_point;
    }
  }
  if (refused != 0) return Status::FromErrno(refused, refused_at);
  return Status(StatusCode::kNotFound, std::string(kMountPoints[0]) + ": tracefs is not mounted");
}

Status WriteTracefs(const std::string& path, std::string_view text) {
  ScopedFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd.valid()) return Status::FromErrno(errno, path);
  ssize_t written;
  do {
    written = write(fd.get(), text.data(), text.size());
  } while (written < 0 && errno == EINTR);
  return written < 0 ? Status::FromErrno(errno, path) : Status::Ok();
}

Status EmptyTracefs(const std::string& path) {
  ScopedFd fd(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  return fd.valid() ? Status::Ok() : Status::FromErrno(errno, path);
}

}  // namespace jankbox

#include "tools/terminal/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "base/sealed_file.h"

namespace jankbox::tools {
namespace {

Status Named(const std::string& name, const Status& status) {
  const bool of_write = status.code() == StatusCode::kNoSpace || status.code() == StatusCode::kIo;
  return of_write ? Status(status.code(), name + ": " + status.message()) : status;
}

// /dev/stdout, /dev/null, a pipe: nothing to replace.
bool IsStream(const std::string& path) {
  struct stat st {};
  return stat(path.c_str(), &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode));
}

Status WriteSealed(const std::string& path, const std::function<Status(int fd)>& write) {
  Result<SealedFile> sealed =
      SealedFile::Create(std::string(DirName(path)), std::string(BaseName(path)));
  if (!sealed.ok()) return sealed.status();
  Status status = write(sealed->fd());
  if (!status.ok()) return Named(path, status);
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(sealed->fd(), 0666 & ~mask) != 0) return Status::FromErrno(errno, path);
  return sealed->Seal();
}

}  // namespace

bool IsStdout(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

Status CheckOutputFile(const std::string& path, bool force) {
  struct stat st {};
  if (force || path == "-" || IsStream(path) || lstat(path.c_str(), &st) != 0) return Status::Ok();
  return Status(StatusCode::kInvalidArgument, path + ": File exists (--force replaces it)");
}

Status WriteOutputFile(const std::string& path, bool force,
                       const std::function<Status(int fd)>& write) {
  if (path == "-") return Named("stdout", write(STDOUT_FILENO));
  if (IsStream(path)) {
    const ScopedFd fd(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return fd.valid() ? Named(path, write(fd.get())) : Status::FromErrno(errno, path);
  }
  const Status free = CheckOutputFile(path, force);
  return free.ok() ? WriteSealed(path, write) : free;
}

}  // namespace jankbox::tools

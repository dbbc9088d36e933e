#include "base/sealed_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/file.h"

namespace jankbox {
namespace {

std::atomic<unsigned> g_counter{0};

}  // namespace

SealedFile::SealedFile(ScopedFd fd, std::string directory, std::string temporary,
                       std::string final_path)
    : fd_(std::move(fd)),
      directory_(std::move(directory)),
      temporary_path_(std::move(temporary)),
      final_path_(std::move(final_path)) {}

SealedFile::~SealedFile() {
  if (fd_.valid()) unlink(temporary_path_.c_str());
}

Result<SealedFile> SealedFile::Create(const std::string& directory, const std::string& final_name) {
  std::string name = std::string(kTemporaryPrefix) + std::to_string(getpid()) + "-" +
                     std::to_string(g_counter.fetch_add(1, std::memory_order_relaxed)) + "-" +
                     final_name;
  std::string path = JoinPath(directory, name);
  unlink(path.c_str());  // left by an earlier process of the same pid
  ScopedFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return Status::FromErrno(errno, path);
  return SealedFile(std::move(fd), directory, std::move(path), JoinPath(directory, final_name));
}

Status SealedFile::Write(std::string_view bytes) {
  Status status = WriteFully(fd_.get(), bytes);
  return status.ok() ? status : Status(status.code(), final_path_ + ": " + status.message());
}

Status SealedFile::Seal() {
  // A failed fsync may have dropped the pages: the file is given up, never synced a second time.
  if (fsync(fd_.get()) != 0) return Status::FromErrno(errno, final_path_);
  if (rename(temporary_path_.c_str(), final_path_.c_str()) != 0) {
    return Status::FromErrno(errno, final_path_);
  }
  fd_.Reset();
  return SyncDirectory(directory_);
}

int SealedFile::SweepOrphans(const std::string& directory) {
  Result<std::vector<std::string>> names = ListDirectory(directory);
  if (!names.ok()) return 0;
  int swept = 0;
  for (const std::string& name : names.value()) {
    if (name.rfind(kTemporaryPrefix, 0) != 0) continue;
    pid_t pid = static_cast<pid_t>(strtol(name.c_str() + strlen(kTemporaryPrefix), nullptr, 10));
    bool alive = pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
    if (!alive && unlink(JoinPath(directory, name).c_str()) == 0) ++swept;
  }
  return swept;
}

Status ReplaceFile(const std::string& directory, const std::string& name, std::string_view bytes,
                   bool durable) {
  return ReplaceFile(
      directory, name, [bytes](int) { return std::string(bytes); }, durable);
}

Status ReplaceFile(const std::string& directory, const std::string& name,
                   const std::function<std::string(int fd)>& content, bool durable) {
  const std::string temporary =
      JoinPath(directory, SealedFile::kTemporaryPrefix + std::to_string(getpid()) + "-0-" + name);
  const std::string path = JoinPath(directory, name);
  unlink(temporary.c_str());
  ScopedFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return Status::FromErrno(errno, temporary);
  Status status = WriteFully(fd.get(), content(fd.get()));
  if (status.ok() && durable && fsync(fd.get()) != 0) status = Status::FromErrno(errno, path);
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = Status::FromErrno(errno, path);
  }
  if (!status.ok()) {
    unlink(temporary.c_str());
    return status;
  }
  return durable ? SyncDirectory(directory) : Status::Ok();
}

}  // namespace jankbox

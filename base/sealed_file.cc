#include "base/sealed_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/file.h"

namespace jankbox {
namespace {

std::atomic<unsigned> g_counter{0};

std::string NewTemporaryName(const std::string& name) {
  return SealedFile::kTemporaryPrefix + std::to_string(getpid()) + "-" +
         std::to_string(MonotonicNs()) + "-" +
         std::to_string(g_counter.fetch_add(1, std::memory_order_relaxed)) + "-" + name;
}

// Where files cannot be locked, its process decides, which is another one in another namespace.
bool IsOrphan(const std::string& path, const std::string& name) {
  const ScopedFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid()) return false;
  if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  const char* number = name.c_str() + strlen(SealedFile::kTemporaryPrefix);
  const auto pid = static_cast<pid_t>(strtol(number, nullptr, 10));
  return pid <= 0 || (kill(pid, 0) != 0 && errno != EPERM);
}

}  // namespace

Result<ScopedFd> CreateTemporary(const std::string& directory, const std::string& name, int access,
                                 std::string* path) {
  constexpr int kAttempts = 8;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    *path = JoinPath(directory, NewTemporaryName(name));
    ScopedFd fd(open(path->c_str(), access | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd.valid() && errno == EEXIST) continue;
    if (!fd.valid()) return Status::FromErrno(errno, *path);
    // Another process may sweep it before it is locked.
    if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) continue;
    struct stat st {};
    if (fstat(fd.get(), &st) == 0 && st.st_nlink != 0) return fd;
  }
  return Status(StatusCode::kBusy, *path + ": another process removes new files");
}

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
  std::string path;
  Result<ScopedFd> fd = CreateTemporary(directory, final_name, O_WRONLY, &path);
  if (!fd.ok()) return fd.status();
  return SealedFile(std::move(fd.value()), directory, std::move(path),
                    JoinPath(directory, final_name));
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
    if (!name.starts_with(kTemporaryPrefix)) continue;
    const std::string path = JoinPath(directory, name);
    if (IsOrphan(path, name) && unlink(path.c_str()) == 0) ++swept;
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
  std::string temporary;
  const std::string path = JoinPath(directory, name);
  const Result<ScopedFd> fd = CreateTemporary(directory, name, O_WRONLY, &temporary);
  if (!fd.ok()) return fd.status();
  Status status = WriteFully(fd->get(), content(fd->get()));
  if (status.ok() && durable && fsync(fd->get()) != 0) status = Status::FromErrno(errno, path);
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

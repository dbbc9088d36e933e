#include "uploader/transport/pace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "base/sealed_file.h"

namespace jankbox {
namespace {

constexpr char kPaceName[] = ".upload";
constexpr size_t kMaxPaceBytes = 4096;

}  // namespace

UploadPace LoadUploadPace(const std::string& directory) {
  const Result<std::string> bytes = ReadFile(JoinPath(directory, kPaceName), kMaxPaceBytes);
  return bytes.ok() ? DecodeUploadPace(bytes.value()) : UploadPace();
}

Status StoreUploadPace(const std::string& directory, const UploadPace& pace) {
  // Named as SealedFile names its own, so that its sweep removes the one of a dead process.
  const std::string temporary =
      JoinPath(directory, std::string(SealedFile::kTemporaryPrefix) + std::to_string(getpid()) +
                              "-pace-" + kPaceName);
  const std::string path = JoinPath(directory, kPaceName);
  unlink(temporary.c_str());
  ScopedFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.valid()) return Status::FromErrno(errno, temporary);
  Status status = WriteFully(fd.get(), EncodeUploadPace(pace));
  if (status.ok() && rename(temporary.c_str(), path.c_str()) != 0) {
    status = Status::FromErrno(errno, path);
  }
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

}  // namespace jankbox

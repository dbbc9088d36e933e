#include "uploader/spool/spool_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <utility>

#include "base/clock.h"

namespace jankbox {
namespace {

constexpr uint64_t kPollNs = 2 * kNsPerMs;

}  // namespace

Result<SpoolLock> SpoolLock::Acquire(const std::string& path, uint32_t timeout_ms) {
  ScopedFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600));
  if (!fd.valid()) return Status::FromErrno(errno, path);
  struct stat st {};
  if (fstat(fd.get(), &st) != 0) return Status::FromErrno(errno, path);
  if (!S_ISREG(st.st_mode)) {
    return Status(StatusCode::kInvalidArgument, path + ": not a regular file");
  }
  const uint64_t give_up_ns = MonotonicNs() + timeout_ms * kNsPerMs;
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return Status::FromErrno(errno, path);
    if (MonotonicNs() >= give_up_ns) {
      return Status(StatusCode::kBusy, path + ": locked by another process");
    }
    const timespec pause{0, static_cast<long>(kPollNs)};
    nanosleep(&pause, nullptr);
  }
  return SpoolLock(std::move(fd));
}

SpoolLock::~SpoolLock() {
  if (fd_.IsStillOurs()) flock(fd_.get(), LOCK_UN);
}

}  // namespace jankbox

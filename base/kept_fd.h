// A descriptor that Jankbox keeps open in an app's process. The app may close it, as closefrom()
// does, and open something of its own under the same number, which Jankbox must then neither use
// nor close: device and inode tell. Anonymous files (events, timers) share one inode and are not
// told apart. One fstat() when it is taken and one before it is closed; no allocation. Not
// thread-safe.
#ifndef JANKBOX_BASE_KEPT_FD_H_
#define JANKBOX_BASE_KEPT_FD_H_

#include <sys/stat.h>

#include <utility>

#include "base/scoped_fd.h"

namespace jankbox {

class KeptFd : public ScopedFd {
 public:
  KeptFd() = default;
  KeptFd(ScopedFd&& fd) : ScopedFd(std::move(fd)) {  // NOLINT(google-explicit-constructor)
    struct stat file {};
    if (!valid() || fstat(get(), &file) != 0) return;
    device_ = file.st_dev;
    inode_ = file.st_ino;
  }
  KeptFd(KeptFd&&) noexcept = default;
  KeptFd& operator=(KeptFd&& other) noexcept {
    LeaveToTheApp();
    device_ = other.device_;
    inode_ = other.inode_;
    ScopedFd::operator=(std::move(other));
    return *this;
  }
  ~KeptFd() { LeaveToTheApp(); }

  // The same number in the calling thread's table, which FdTable::Leave() kept open.
  KeptFd InThisTable() const {
    KeptFd kept;
    kept.ScopedFd::operator=(ScopedFd(get()));
    kept.device_ = device_;
    kept.inode_ = inode_;
    return kept;
  }
  bool IsStillOurs() const {
    struct stat file {};
    return valid() && IsOfThisThread() && fstat(get(), &file) == 0 && file.st_dev == device_ &&
           file.st_ino == inode_;
  }
  void Reset() {
    LeaveToTheApp();
    ScopedFd::Reset();
  }

 private:
  void LeaveToTheApp() {
    if (valid() && !IsStillOurs()) Release();
  }

  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_BASE_KEPT_FD_H_

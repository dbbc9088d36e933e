// One process at a time in a spool folder: a kernel lock on a file, which dies with its holder.
// Also keeps out other threads of this process, since each acquisition opens the file again.
// flock(2) and not an OFD lock: the same ownership, and it is there on every Android kernel.
// Threads: any but the app's own.
#ifndef JANKBOX_UPLOADER_SPOOL_SPOOL_LOCK_H_
#define JANKBOX_UPLOADER_SPOOL_SPOOL_LOCK_H_

#include <cstdint>
#include <string>

#include "base/kept_fd.h"
#include "base/status.h"

namespace jankbox {

class SpoolLock {
 public:
  // Waits at most `timeout_ms`, then kBusy: a holder that is stopped must not stop us.
  static Result<SpoolLock> Acquire(const std::string& path, uint32_t timeout_ms);

  SpoolLock(SpoolLock&&) noexcept = default;
  SpoolLock& operator=(SpoolLock&&) = delete;
  // Unlocks before it closes: a child that was forked meanwhile has a copy of the descriptor.
  ~SpoolLock();

 private:
  explicit SpoolLock(ScopedFd fd) : fd_(static_cast<ScopedFd&&>(fd)) {}

  KeptFd fd_;
};

}  // namespace jankbox

#endif  // JANKBOX_UPLOADER_SPOOL_SPOOL_LOCK_H_

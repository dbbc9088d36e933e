// Owner of one file descriptor; closes it on destruction. On a thread with another table than the
// one that took it, it is left open (base/files/fd_table.h). Not thread-safe.
#ifndef JANKBOX_BASE_SCOPED_FD_H_
#define JANKBOX_BASE_SCOPED_FD_H_

#include <unistd.h>

#include <cstdint>

#include "base/files/fd_table.h"

namespace jankbox {

class ScopedFd {
 public:
  ScopedFd() = default;
  explicit ScopedFd(int fd) : fd_(fd) {}
  ScopedFd(ScopedFd&& other) noexcept : table_(other.table_), fd_(other.Release()) {}
  ScopedFd& operator=(ScopedFd&& other) noexcept {
    if (this == &other) return *this;
    Reset(other.Release());
    table_ = other.table_;
    return *this;
  }
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  ~ScopedFd() { Reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() {
    int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void Reset(int fd = -1) {
    if (fd_ >= 0 && IsOfThisThread()) close(fd_);
    fd_ = fd;
    table_ = FdTable::OfThisThread();
  }
  bool IsOfThisThread() const { return table_ == FdTable::OfThisThread(); }

 private:
  uint32_t table_ = FdTable::OfThisThread();
  int fd_ = -1;
};

}  // namespace jankbox

#endif  // JANKBOX_BASE_SCOPED_FD_H_

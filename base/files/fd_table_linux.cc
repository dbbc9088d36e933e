#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>

#include "base/files/fd_table.h"
#include "base/files/seccomp.h"

// Of 5.9, 5.3 and 5.6; the headers may be older. One number on all machines but alpha.
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

namespace jankbox {
namespace {

constexpr unsigned kUnshare = 2;  // CLOSE_RANGE_UNSHARE
constexpr int kCopied = 64;       // the least that the kernel copies of a table

// Sanitizers write what they find to standard error.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define JANKBOX_KEEPS_STANDARD_ERROR
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    defined(JANKBOX_KEEPS_STANDARD_ERROR)
constexpr int kFirstClosed = STDERR_FILENO + 1;
#else
constexpr int kFirstClosed = 0;
#endif

bool CloseRange(int first, int last, unsigned flags) {
  return first > last || syscall(SYS_close_range, static_cast<unsigned>(first),
                                 static_cast<unsigned>(last), flags) == 0;
}

}  // namespace

bool FdTable::Leave(int kept) {
  static std::atomic<uint32_t> tables{kOfTheApp};
  if (t_table_ != kOfTheApp || MayBeFiltered()) return false;
  // What is above the first range is not even copied. It begins at a multiple of 64: before 5.18
  // the kernel else may lose sight of the last ones that it copies, and never closes them.
  const int first = (std::max(kept, kFirstClosed) / kCopied + 1) * kCopied;
  if (!CloseRange(first, INT_MAX, kUnshare)) return false;
  CloseRange(std::max(kept + 1, kFirstClosed), first - 1, 0);
  t_table_ = tables.fetch_add(1, std::memory_order_relaxed) + 1;
  CloseRange(kFirstClosed, kept - 1, 0);
  // Nobody's text ends up in a file that gets one of these numbers: a write to this one fails. It
  // is of no file system, which an app may leave with chroot().
  for (int fd = 0; fd >= 0 && fd <= STDERR_FILENO;) {
    fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd > STDERR_FILENO) close(fd);
  }
  return true;
}

AppFd::AppFd(int fd) : fd_(fd) {
  if (FdTable::OfThisThread() == FdTable::kOfTheApp) return;
  is_own_ = true;
  fd_ = -1;
  if (MayBeFiltered()) return;
  const int process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (process < 0) return;
  fd_ = static_cast<int>(syscall(SYS_pidfd_getfd, process, fd, 0));
  close(process);
}

AppFd::~AppFd() {
  if (is_own_ && fd_ >= 0) close(fd_);
}

}  // namespace jankbox

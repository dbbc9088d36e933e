#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

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
  // In this order: what is above the range of the first call is not even copied.
  const int first = kept >= kFirstClosed ? kept + 1 : kFirstClosed;
  if (!CloseRange(first, INT_MAX, kUnshare)) return false;
  t_table_ = tables.fetch_add(1, std::memory_order_relaxed) + 1;
  CloseRange(kFirstClosed, kept - 1, 0);
  // Nobody's text ends up in a file that gets one of these numbers. A write to it fails.
  for (int fd = 0; fd >= 0 && fd <= STDERR_FILENO;) {
    fd = open("/", O_PATH | O_CLOEXEC);
    if (fd > STDERR_FILENO) close(fd);
  }
  return true;
}

AppFd::AppFd(int fd) : fd_(fd) {
  if (FdTable::OfThisThread() == FdTable::kOfTheApp) return;
  is_own_ = true;
  fd_ = -1;
  const int process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (process < 0) return;
  fd_ = static_cast<int>(syscall(SYS_pidfd_getfd, process, fd, 0));
  close(process);
}

AppFd::~AppFd() {
  if (is_own_ && fd_ >= 0) close(fd_);
}

}  // namespace jankbox

#include "tracer/sampling/fd_class.h"

#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <iterator>
#include <limits>

namespace jankbox {

namespace {

#if defined(SYS_sync_file_range)
constexpr int32_t kSyncFileRange = SYS_sync_file_range;
#else
constexpr int32_t kSyncFileRange = SYS_sync_file_range2;  // ARM
#endif

#if defined(SYS_accept)
constexpr int32_t kAccept = SYS_accept;
#else
constexpr int32_t kAccept = SYS_accept4;                  // 32-bit x86
#endif

constexpr int32_t kCallsWithFd[] = {
    SYS_read,       SYS_write,     SYS_pread64,    SYS_pwrite64,    SYS_readv,    SYS_writev,
    SYS_preadv,     SYS_pwritev,   SYS_recvfrom,   SYS_recvmsg,     SYS_recvmmsg, SYS_sendto,
    SYS_sendmsg,    SYS_sendmmsg,  kAccept,        SYS_accept4,     SYS_connect,  SYS_fsync,
    SYS_fdatasync,  SYS_ftruncate, SYS_fallocate,  SYS_ioctl,       SYS_fcntl,    SYS_flock,
    SYS_fstat,      SYS_lseek,     SYS_sendfile,   SYS_splice,      SYS_tee,      SYS_getdents64,
    SYS_close,      SYS_syncfs,    kSyncFileRange, SYS_epoll_pwait,
#ifdef SYS_epoll_wait  // newer machines only have epoll_pwait
    SYS_epoll_wait,
#endif
};

}  // namespace

bool TakesFd(int32_t system_call) {
  return std::find(std::begin(kCallsWithFd), std::end(kCallsWithFd), system_call) !=
         std::end(kCallsWithFd);
}

StackSample::FdClass ClassifyMode(uint32_t mode) {
  using FdClass = StackSample::FdClass;
  switch (mode & S_IFMT) {
    case S_IFREG:
    case S_IFDIR:
    case S_IFBLK:
      return FdClass::kFile;
    case S_IFIFO:
      return FdClass::kPipe;
    case S_IFSOCK:
      return FdClass::kSocket;
    case 0:
      return FdClass::kEvent;
    default:
      return FdClass::kOther;
  }
}

StackSample::FdClass ClassifyFd(uint64_t fd) {
  // The kernel takes the low half of the register.
  const auto number = static_cast<int>(static_cast<uint32_t>(fd));
  uint32_t mode = 0;
  if (number < 0 || !ReadFdMode(number, &mode)) return StackSample::FdClass::kNone;
  return ClassifyMode(mode);
}

}  // namespace jankbox

#include "tracer/interpose/io_proxies.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "tracer/interpose/fd_classes.h"
#include "tracer/interpose/loop_posts.h"
#include "tracer/interpose/wait_scope.h"
#include "tracer/unwind/safe_memory.h"
#include "tracer/unwind/stack_sample.h"

namespace jankbox {
namespace {

using Hook = HookedBy<HookFeature::kIo>;

// `real(fd, rest...)`, a call for `bytes()` bytes.
template <typename Function, typename Bytes, typename... Rest>
inline auto Do(Function* real, WaitClass what, Bytes bytes, int fd, Rest... rest) {
  if (__builtin_expect(!RecordsWaits(), 1)) return real(fd, rest...);
  const WaitScope wait(what, fd, bytes());
  return wait.ReturnedWithErrno(real(fd, rest...));
}

constexpr auto kNoBytes = [] { return size_t{0}; };

// A read of `bytes` bytes: `real(fd, rest...)`. One of an event descriptor may be a loop that takes
// note of its wake-up.
template <typename Function, typename... Rest>
inline auto Read(Function* real, int fd, size_t bytes, Rest... rest) {
  if (__builtin_expect(!RecordsWaits(), 1)) return real(fd, rest...);
  const WaitScope wait(WaitClass::kRead, fd, bytes);
  const auto result = wait.ReturnedWithErrno(real(fd, rest...));
  if (result >= 0 && wait.fd_class() == static_cast<uint8_t>(StackSample::FdClass::kEvent)) {
    LoopPosts::AfterRead(fd);
  }
  return result;
}

ssize_t ReadProxy(int fd, void* buffer, size_t bytes) {
  return Read(Hook::Original<HookId::kRead, ssize_t(int, void*, size_t)>(), fd, bytes, buffer,
              bytes);
}

ssize_t CheckedReadProxy(int fd, void* buffer, size_t bytes, size_t buffer_bytes) {
  return Read(Hook::Original<HookId::kReadChk, ssize_t(int, void*, size_t, size_t)>(), fd, bytes,
              buffer, bytes, buffer_bytes);
}

// Qt calls these two.
int EventfdReadProxy(int fd, eventfd_t* value) {
  return Read(Hook::Original<HookId::kEventfdRead, int(int, eventfd_t*)>(), fd, sizeof(*value),
              value);
}

int EventfdWriteProxy(int fd, eventfd_t value) {
  LoopPosts::BeforeWrite(fd, sizeof(value));
  return Do(
      Hook::Original<HookId::kEventfdWrite, int(int, eventfd_t)>(), WaitClass::kWrite,
      [] { return sizeof(eventfd_t); }, fd, value);
}

ssize_t ReadvProxy(int fd, const iovec* vectors, int count) {
  return Do(
      Hook::Original<HookId::kReadv, ssize_t(int, const iovec*, int)>(), WaitClass::kReadv,
      [vectors, count] { return BytesOf(vectors, count); }, fd, vectors, count);
}

// pread and pread64, pwrite and pwrite64: one function each if off_t has 64 bits.
template <HookId kId, typename Offset>
ssize_t PreadProxy(int fd, void* buffer, size_t bytes, Offset offset) {
  return Do(
      Hook::Original<kId, ssize_t(int, void*, size_t, Offset)>(), WaitClass::kPread,
      [bytes] { return bytes; }, fd, buffer, bytes, offset);
}

template <HookId kId, typename Offset>
ssize_t CheckedPreadProxy(int fd, void* buffer, size_t bytes, Offset offset, size_t buffer_bytes) {
  return Do(
      Hook::Original<kId, ssize_t(int, void*, size_t, Offset, size_t)>(), WaitClass::kPread,
      [bytes] { return bytes; }, fd, buffer, bytes, offset, buffer_bytes);
}

template <HookId kId, typename Offset>
ssize_t PwriteProxy(int fd, const void* buffer, size_t bytes, Offset offset) {
  return Do(
      Hook::Original<kId, ssize_t(int, const void*, size_t, Offset)>(), WaitClass::kPwrite,
      [bytes] { return bytes; }, fd, buffer, bytes, offset);
}

template <HookId kId, typename Offset>
ssize_t CheckedPwriteProxy(int fd, const void* buffer, size_t bytes, Offset offset,
                           size_t buffer_bytes) {
  return Do(
      Hook::Original<kId, ssize_t(int, const void*, size_t, Offset, size_t)>(), WaitClass::kPwrite,
      [bytes] { return bytes; }, fd, buffer, bytes, offset, buffer_bytes);
}

int FsyncProxy(int fd) {
  return Do(Hook::Original<HookId::kFsync, int(int)>(), WaitClass::kFsync, kNoBytes, fd);
}

int FdatasyncProxy(int fd) {
  return Do(Hook::Original<HookId::kFdatasync, int(int)>(), WaitClass::kFdatasync, kNoBytes, fd);
}

void ForgetDescriptor(int fd) {
  FdClasses::Forget(fd);
  LoopPosts::Forget(fd);
}

int CloseProxy(int fd) {
  auto* real = Hook::Original<HookId::kClose, int(int)>();
  if (__builtin_expect(!RecordsWaits(), 1)) {
    ForgetDescriptor(fd);  // before its number is given to another
    return real(fd);
  }
  const WaitScope wait(WaitClass::kClose, fd, 0);
  ForgetDescriptor(fd);
  return wait.ReturnedWithErrno(real(fd));
}

// `open()`, whose descriptor may have been another file's.
template <typename Call>
inline int Open(Call open) {
  if (__builtin_expect(!RecordsWaits(), 1)) {
    const int fd = open();
    ForgetDescriptor(fd);
    return fd;
  }
  const WaitScope wait(WaitClass::kOpen, -1, 0);
  const int fd = open();
  ForgetDescriptor(fd);
  return wait.ReturnedWithErrno(fd);
}

// open() takes its third argument only with some flags. On every machine that we run on it is
// passed alike whether the callee is variadic or not.
template <HookId kId>
int OpenProxy(const char* path, int flags, mode_t mode) {
  return Open([&] { return Hook::Original<kId, int(const char*, int, ...)>()(path, flags, mode); });
}

template <HookId kId>
int CheckedOpenProxy(const char* path, int flags) {
  return Open([&] { return Hook::Original<kId, int(const char*, int)>()(path, flags); });
}

template <HookId kId>
int OpenatProxy(int folder, const char* path, int flags, mode_t mode) {
  return Open([&] {
    return Hook::Original<kId, int(int, const char*, int, ...)>()(folder, path, flags, mode);
  });
}

template <HookId kId>
int CheckedOpenatProxy(int folder, const char* path, int flags) {
  return Open(
      [&] { return Hook::Original<kId, int(int, const char*, int)>()(folder, path, flags); });
}

}  // namespace

size_t BytesOf(const iovec* vectors, int count) {
  if (count <= 0 || count > IOV_MAX) return 0;
  size_t bytes = 0;
  iovec copies[16];
  const auto wanted = static_cast<size_t>(count);
  for (size_t at = 0; at < wanted;) {
    const size_t some = std::min(wanted - at, std::size(copies));
    const size_t got =
        ReadOwnMemory(reinterpret_cast<uint64_t>(vectors + at), copies, some * sizeof(iovec));
    for (size_t i = 0; i < got / sizeof(iovec); ++i) bytes += copies[i].iov_len;
    if (got < some * sizeof(iovec)) break;
    at += some;
  }
  return bytes;
}

std::span<const HookUse> IoHooks() {
  static const HookUse hooks[] = {
      Hook::Use<HookId::kRead>(ReadProxy, IsOfTheApp),
      Hook::Use<HookId::kReadChk>(CheckedReadProxy, IsOfTheApp),
      Hook::Use<HookId::kEventfdRead>(EventfdReadProxy, IsOfTheApp),
      Hook::Use<HookId::kEventfdWrite>(EventfdWriteProxy, IsOfTheApp),
      Hook::Use<HookId::kReadv>(ReadvProxy, IsOfTheApp),
      Hook::Use<HookId::kPread>(PreadProxy<HookId::kPread, off_t>, IsOfTheApp),
      Hook::Use<HookId::kPreadChk>(CheckedPreadProxy<HookId::kPreadChk, off_t>, IsOfTheApp),
      Hook::Use<HookId::kPread64>(PreadProxy<HookId::kPread64, off64_t>, IsOfTheApp),
      Hook::Use<HookId::kPread64Chk>(CheckedPreadProxy<HookId::kPread64Chk, off64_t>, IsOfTheApp),
      Hook::Use<HookId::kPwrite>(PwriteProxy<HookId::kPwrite, off_t>, IsOfTheApp),
      Hook::Use<HookId::kPwriteChk>(CheckedPwriteProxy<HookId::kPwriteChk, off_t>, IsOfTheApp),
      Hook::Use<HookId::kPwrite64>(PwriteProxy<HookId::kPwrite64, off64_t>, IsOfTheApp),
      Hook::Use<HookId::kPwrite64Chk>(CheckedPwriteProxy<HookId::kPwrite64Chk, off64_t>,
                                      IsOfTheApp),
      Hook::Use<HookId::kFsync>(FsyncProxy, IsOfTheApp),
      Hook::Use<HookId::kFdatasync>(FdatasyncProxy, IsOfTheApp),
      Hook::Use<HookId::kOpen>(OpenProxy<HookId::kOpen>, IsOfTheApp),
      Hook::Use<HookId::kOpen2>(CheckedOpenProxy<HookId::kOpen2>, IsOfTheApp),
      Hook::Use<HookId::kOpen64>(OpenProxy<HookId::kOpen64>, IsOfTheApp),
      Hook::Use<HookId::kOpen642>(CheckedOpenProxy<HookId::kOpen642>, IsOfTheApp),
      Hook::Use<HookId::kOpenat>(OpenatProxy<HookId::kOpenat>, IsOfTheApp),
      Hook::Use<HookId::kOpenat2>(CheckedOpenatProxy<HookId::kOpenat2>, IsOfTheApp),
      Hook::Use<HookId::kOpenat64>(OpenatProxy<HookId::kOpenat64>, IsOfTheApp),
      Hook::Use<HookId::kOpenat642>(CheckedOpenatProxy<HookId::kOpenat642>, IsOfTheApp),
      Hook::Use<HookId::kClose>(CloseProxy, IsOfTheApp),
  };
  return hooks;
}

}  // namespace jankbox

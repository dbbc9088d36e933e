#include "tracer/atrace/marker_tap.h"

#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "tracer/event/event_sink.h"
#include "tracer/event/marker_text.h"

namespace jankbox {
namespace {

// linux/magic.h; files of tracefs that are below debugfs have debugfs' number before Linux 4.1.
constexpr uint32_t kTracefsMagic = 0x74726163;
constexpr uint32_t kDebugfsMagic = 0x64626720;

// Of addresses that may be bad: -1, or fewer bytes.
ssize_t CopyOwnMemory(const iovec& to, const iovec& from) {
  return syscall(SYS_process_vm_readv, getpid(), &to, 1ul, &from, 1ul, 0ul);
}

}  // namespace

std::atomic<MarkerMode> MarkerTap::mode_{MarkerMode::kOff};
std::atomic<uint8_t> MarkerTap::epoch_{1};
std::atomic<uint8_t> MarkerTap::descriptors_[kMaxDescriptors];

void MarkerTap::SetMode(MarkerMode mode) {
  ForgetDescriptors();
  mode_.store(mode, std::memory_order_relaxed);
}

void MarkerTap::ForgetDescriptors() {
  const uint8_t epoch = epoch_.load(std::memory_order_relaxed);
  epoch_.store(epoch == 127 ? 1 : epoch + 1, std::memory_order_relaxed);
}

bool MarkerTap::Ask(int fd, uint8_t epoch) {
  if (FdTable::OfThisThread() != FdTable::kOfTheApp) return false;  // another file's number there
  const int saved_errno = errno;
  struct statfs file_system;
  const bool marker = fstatfs(fd, &file_system) == 0 &&
                      (static_cast<uint32_t>(file_system.f_type) == kTracefsMagic ||
                       static_cast<uint32_t>(file_system.f_type) == kDebugfsMagic);
  errno = saved_errno;
  descriptors_[fd].store(static_cast<uint8_t>(epoch << 1 | (marker ? 1 : 0)),
                         std::memory_order_relaxed);
  return marker;
}

bool MarkerTap::TakeKept(int fd, const void* data, size_t bytes) {
  return fd >= 0 && mode_.load(std::memory_order_relaxed) == MarkerMode::kKeep &&
         Record(data, bytes);
}

void MarkerTap::TakePassed(int fd, const iovec* pieces, int count, ssize_t result) {
  if (fd == -1) {
    for (int i = 0; i < count; ++i) TakeRefused(pieces + i);
    return;
  }
  size_t left = result > 0 ? static_cast<size_t>(result) : 0;
  for (int i = 0; i < count && left > 0; ++i) {
    const size_t bytes = std::min(pieces[i].iov_len, left);
    Record(pieces[i].iov_base, bytes);
    left -= bytes;
  }
}

// The kernel rejected the descriptor without reading the buffer, or at `piece` itself.
void MarkerTap::TakeRefused(const iovec* piece) {
  const int saved_errno = errno;
  char text[kMaxMarkerBytes];
  iovec from;
  iovec to = {&from, sizeof(from)};
  const iovec whole = {const_cast<iovec*>(piece), sizeof(*piece)};
  if (CopyOwnMemory(to, whole) == static_cast<ssize_t>(sizeof(from))) {
    to = {text, sizeof(text)};
    from.iov_len = std::min(from.iov_len, sizeof(text));
    const ssize_t copied = CopyOwnMemory(to, from);
    if (copied > 0) Record(text, static_cast<size_t>(copied));
  }
  errno = saved_errno;
}

bool MarkerTap::Record(const void* data, size_t bytes) {
  const std::string_view text(static_cast<const char*>(data), bytes);
  return KindOfMarker(text) != MarkerKind::kUnknown && RecordMarker(text);
}

}  // namespace jankbox

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
#include "tracer/hook/reentry_guard.h"

namespace jankbox {
namespace {

// linux/magic.h; files of tracefs that lie below debugfs have debugfs' number before Linux 4.1.
constexpr uint32_t kTracefsMagic = 0x74726163;
constexpr uint32_t kDebugfsMagic = 0x64626720;

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

bool MarkerTap::TakeKept(int fd, const iovec* pieces, int count, size_t bytes) {
  return fd >= 0 && mode_.load(std::memory_order_relaxed) == MarkerMode::kKeep &&
         Record(pieces, count, bytes);
}

void MarkerTap::TakePassed(int fd, const iovec* pieces, int count, ssize_t result) {
  if (result > 0) {
    Record(pieces, count, static_cast<size_t>(result));
    return;
  }
  if (fd != -1) return;
  // The kernel refused it for its descriptor, without a look at the buffer.
  const int saved_errno = errno;
  char text[kMaxMarkerBytes];
  const iovec copy = {text, sizeof(text)};
  const ssize_t copied = syscall(SYS_process_vm_readv, getpid(), &copy, 1ul, pieces,
                                 static_cast<unsigned long>(std::max(count, 0)), 0ul);
  errno = saved_errno;
  const iovec piece = {text, static_cast<size_t>(std::max<ssize_t>(copied, 0))};
  if (copied > 0) Record(&piece, 1, piece.iov_len);
}

bool MarkerTap::Record(const iovec* pieces, int count, size_t bytes) {
  const ReentryGuard guard(HookFeature::kMarkers);
  if (!guard.entered()) return false;
  char gathered[kMaxMarkerBytes];
  std::string_view text(static_cast<const char*>(pieces[0].iov_base), bytes);
  if (count > 1) {
    size_t used = 0;
    const size_t wanted = std::min(bytes, sizeof(gathered));
    for (int i = 0; i < count && used < wanted; ++i) {
      const size_t part = std::min(pieces[i].iov_len, wanted - used);
      memcpy(gathered + used, pieces[i].iov_base, part);
      used += part;
    }
    text = {gathered, used};
  }
  return KindOfMarker(text) != MarkerKind::kUnknown && RecordMarker(text);
}

}  // namespace jankbox

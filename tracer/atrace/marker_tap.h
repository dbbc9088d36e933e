// Records what the process writes to the kernel's trace_marker: the part of the write
// proxies that decides whether a call is a marker, and takes its text. A marker is a write to a
// file of tracefs (debugfs on old systems), or to descriptor -1 in the form of one: that is what
// atrace's own code does if its tags are on but it may not open the file. Texts in no form of a
// marker are not kept. HOT, NO-ALLOC, SIGNAL-SAFE, errno untouched, the caller holds a
// ReentryGuard; one fstatfs() a second and descriptor that is written to. FORK: a child records
// nothing and passes everything on.
#ifndef JANKBOX_TRACER_ATRACE_MARKER_TAP_H_
#define JANKBOX_TRACER_ATRACE_MARKER_TAP_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/files/fd_table.h"

namespace jankbox {

enum class MarkerMode : uint32_t {
  kOff = 0,
  kPassOn = 1,  // recorded, and written to the kernel as before
  kKeep = 2,    // recorded only: the kernel never sees them, which is cheaper
};

class MarkerTap {
 public:
  // On the thread that starts or stops, and once a second on a Jankbox thread: descriptors are
  // given to other files, so their class is valid for a second.
  static void SetMode(MarkerMode mode);
  static void ForgetDescriptors();

  // Whether a write of `bytes` to `fd` may be a marker. The buffer is not checked: it may be bad.
  static bool Watches(int fd, size_t bytes) {
    if (mode_.load(std::memory_order_relaxed) == MarkerMode::kOff) return false;
    return bytes - 1 < kMaxWrite && IsMarkerFile(fd);
  }

  // Only in MarkerMode::kKeep: true if the write was recorded instead of passed on, so that the
  // call has succeeded. A bad buffer is then a fault and not EFAULT.
  static bool TakeKept(int fd, const void* data, size_t bytes);

  // Records what the kernel has taken of a write: `result` bytes (of descriptor -1: all). The
  // kernel makes a marker of each piece.
  static void TakePassed(int fd, const iovec* pieces, int count, ssize_t result);

 private:
  static constexpr size_t kMaxWrite = 64 << 10;
  static constexpr int kMaxDescriptors = 4096;  // higher ones are not watched

  static bool IsMarkerFile(int fd) {
    if (fd == -1) return true;
    if (fd < 0 || fd >= kMaxDescriptors) return false;
    const uint8_t known = descriptors_[fd].load(std::memory_order_relaxed);
    const uint8_t now = epoch_.load(std::memory_order_relaxed);
    return known >> 1 == now ? (known & 1) != 0 && FdTable::OfThisThread() == FdTable::kOfTheApp
                             : Ask(fd, now);
  }
  static bool Ask(int fd, uint8_t epoch);
  static void TakeRefused(const iovec* piece);
  static bool Record(const void* data, size_t bytes);

  static std::atomic<MarkerMode> mode_;
  static std::atomic<uint8_t> epoch_;  // 1-127
  // epoch << 1 | it is a marker file
  static std::atomic<uint8_t> descriptors_[kMaxDescriptors];
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_ATRACE_MARKER_TAP_H_

// Records that the calling thread waits, or may, while this lives: a start at once, so that it is
// seen while it blocks, and an end. For watched threads only: ask RecordsWaits() first. HOT:
// NO-ALLOC, no lock, SIGNAL-SAFE, errno untouched; a system call if a descriptor's class is not
// known (fd_classes.h).
//
//   if (!RecordsWaits()) return real(fd, buffer, bytes);
//   const WaitScope wait(WaitClass::kWrite, fd, bytes);
//   return wait.ReturnedWithErrno(real(fd, buffer, bytes));
#ifndef JANKBOX_TRACER_INTERPOSE_WAIT_SCOPE_H_
#define JANKBOX_TRACER_INTERPOSE_WAIT_SCOPE_H_

#include <cstddef>
#include <cstdint>

#include "tracer/event/event_sink.h"
#include "tracer/event/wait_event.h"

namespace jankbox {

// True on watched threads while recording is on. The cost of a hooked call for every other thread
// is this: one call and one load of a thread-local variable.
inline bool RecordsWaits() { return ThisThreadIsWatched() && RecordingOn(); }

class WaitScope {
 public:
  // A lock, held by `owner_tid` (0: not known), or a thread that is waited for.
  WaitScope(WaitClass what, int32_t owner_tid);
  // A call on `fd` (-1: none yet) for `bytes` bytes (0: none).
  WaitScope(WaitClass what, int fd, size_t bytes);

  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

  // The call returned `error`, 0 or an error number, which is passed on.
  int Returned(int error) const {
    if (begun_) End(-error);
    return error;
  }
  // The call returned `result`, below 0 with errno set, which is passed on. What it is when it is
  // no error (bytes, a descriptor) is reported of reads and writes only.
  template <typename Result>
  Result ReturnedWithErrno(Result result) const {
    if (begun_) EndWithErrno(static_cast<int64_t>(result));
    return result;
  }

  // A StackSample::FdClass; 0 if it is not known.
  uint8_t fd_class() const { return fd_class_; }

 private:
  void End(int64_t result) const;
  void EndWithErrno(int64_t result) const;

  const WaitClass what_;
  uint8_t fd_class_ = 0;
  bool begun_ = false;  // false in a signal handler that interrupted a start or an end
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_WAIT_SCOPE_H_

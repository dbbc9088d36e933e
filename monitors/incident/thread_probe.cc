#include "monitors/incident/thread_probe.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace jankbox {
namespace {

ScopedFd OpenTaskFile(int32_t tid, const char* name) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/task/%d/%s", tid, name);
  return ScopedFd(open(path, O_RDONLY | O_CLOEXEC));
}

// The file's text, zero-terminated; false where it cannot be read (the thread is gone, or not
// permitted).
template <size_t kSize>
bool ReadText(const ScopedFd& fd, char (&text)[kSize]) {
  if (!fd.valid()) return false;
  const ssize_t n = pread(fd.get(), text, kSize - 1, 0);
  if (n <= 0) return false;
  text[n] = '\0';
  return true;
}

bool IsRegularFile(uint64_t fd) {
  struct stat st {};
  return fstat(static_cast<int>(fd), &st) == 0 && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
}

}  // namespace

WaitClass ClassifyWait(char state, int32_t syscall, uint64_t first_argument) {
  switch (syscall) {
    case SYS_futex:
      return WaitClass::kLock;
#if defined(SYS_nanosleep)
    case SYS_nanosleep:
#endif
    case SYS_clock_nanosleep:
      return WaitClass::kSleeping;
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
    case SYS_syncfs:
    case SYS_sync_file_range:
    case SYS_fallocate:
    case SYS_openat:
    case SYS_unlinkat:
    case SYS_ftruncate:
      return WaitClass::kDisk;
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_readv:
    case SYS_writev:
    case SYS_getdents64:
      return state == 'D' || IsRegularFile(first_argument) ? WaitClass::kDisk : WaitClass::kBlocked;
    default:
      return state == 'D' ? WaitClass::kDisk : WaitClass::kBlocked;
  }
}

ThreadProbe::ThreadProbe(int32_t tid)
    : schedstat_(OpenTaskFile(tid, "schedstat")),
      stat_(OpenTaskFile(tid, "stat")),
      syscall_(OpenTaskFile(tid, "syscall")) {}

ThreadReading ThreadProbe::Read() const {
  ThreadReading reading;
  char text[512];
  if (ReadText(schedstat_, text)) {
    reading.sched_known = sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &reading.run_ns,
                                 &reading.runnable_ns, &reading.switches) == 3;
  }
  char state = '?';
  if (ReadText(stat_, text)) {
    const char* paren = strrchr(text, ')');  // the name may hold anything
    if (paren != nullptr && paren[1] == ' ') state = paren[2];
  }
  reading.state = state;
  if (state == 'R') {
    reading.wait = WaitClass::kNone;
    return reading;
  }
  int nr = -1;
  uint64_t first_argument = 0;
  if (ReadText(syscall_, text)) {
    if (strncmp(text, "running", 7) == 0) {
      reading.wait = WaitClass::kNone;
      return reading;
    }
    if (sscanf(text, "%d 0x%" SCNx64, &nr, &first_argument) < 1) nr = -1;
    reading.syscall = nr;
    reading.wait = ClassifyWait(state, nr, first_argument);
  } else if (state == 'D') {
    reading.wait = WaitClass::kDisk;
  } else if (state == 'S') {
    reading.wait = WaitClass::kBlocked;
  }
  return reading;
}

}  // namespace jankbox

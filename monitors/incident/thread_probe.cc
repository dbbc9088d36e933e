#include "monitors/incident/thread_probe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/recorded_process.h"
#include "tracer/sampling/fd_class.h"

namespace jankbox {
namespace {

ScopedFd OpenTaskFile(int32_t tid, const char* name) {
  char path[64];
  snprintf(path, sizeof(path), "%s/task/%d/%s", RecordedProcess::folder(), tid, name);
  return ScopedFd(open(path, O_RDONLY | O_CLOEXEC));
}

// The file's text, zero-terminated; false if it cannot be read (the thread is gone, or not
// permitted).
template <size_t kSize>
bool ReadText(const ScopedFd& fd, char (&text)[kSize]) {
  if (!fd.valid()) return false;
  const ssize_t n = pread(fd.get(), text, kSize - 1, 0);
  if (n <= 0) return false;
  text[n] = '\0';
  return true;
}

// "R", and the number of faults that read nothing, of /proc/self/task/TID/stat.
char ParseStat(const char* text, uint64_t* minor_faults) {
  const char* paren = strrchr(text, ')');  // the name may contain any character
  if (paren == nullptr || paren[1] != ' ') return '?';
  sscanf(paren + 2, "%*c %*d %*d %*d %*d %*d %*u %" SCNu64, minor_faults);
  return paren[2];
}

// glibc's own locks have system calls of their own. Bionic's use syscall(), too: there it says
// nothing.
bool IsInSyscall([[maybe_unused]] uint64_t pc) {
#if defined(__GLIBC__)
  constexpr uint64_t kMaxBytes = 64;
  return RecordedProcess::IsThis() && pc - reinterpret_cast<uintptr_t>(&syscall) < kMaxBytes;
#else
  return false;
#endif
}

}  // namespace

ThreadProbe::ThreadProbe(int32_t tid)
    : schedstat_(OpenTaskFile(tid, "schedstat")),
      stat_(OpenTaskFile(tid, "stat")),
      syscall_(OpenTaskFile(tid, "syscall")) {}

char ThreadProbe::ReadState() const {
  char text[512];
  uint64_t minor_faults = 0;
  return ReadText(stat_, text) ? ParseStat(text, &minor_faults) : '?';
}

ThreadReading ThreadProbe::Read() const {
  ThreadReading reading;
  char text[512];
  if (ReadText(schedstat_, text)) {
    reading.sched_known = sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &reading.run_ns,
                                 &reading.runnable_ns, &reading.switches) == 3;
  }
  BlockedCall call;
  if (ReadText(stat_, text)) call.state = ParseStat(text, &reading.minor_faults);
  reading.state = call.state;
  if (call.state == 'R') {
    reading.wait = WaitReason::kNone;
    return reading;
  }
  if (!ReadText(syscall_, text)) {
    // Only the state is known.
    if (call.state == 'D' || call.state == 'S') reading.wait = ClassifyWait(call);
    return reading;
  }
  if (strncmp(text, "running", 7) == 0) {
    reading.wait = WaitReason::kNone;
    return reading;
  }
  uint64_t first_argument = 0, third_argument = 0;
  if (sscanf(text, "%d 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64, &call.number, &first_argument,
             &call.second_argument, &third_argument) < 1) {
    call.number = -1;
  }
  const char* pc = strrchr(text, ' ');  // "number, six arguments, stack pointer, pc"
  call.by_syscall = pc != nullptr && IsInSyscall(strtoull(pc, nullptr, 16));
  if (TakesFd(call.number)) call.fd_class = ClassifyFd(first_argument);
  reading.syscall = call.number;
  reading.arguments[0] = first_argument;
  reading.arguments[1] = call.second_argument;
  reading.fd_class = call.fd_class;
  reading.wait = ClassifyWait(call);
  if (reading.wait == WaitReason::kLock) {
    reading.futex = {first_argument, static_cast<uint32_t>(call.second_argument),
                     static_cast<uint32_t>(third_argument)};
  }
  return reading;
}

}  // namespace jankbox

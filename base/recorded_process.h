// The process whose threads are recorded, and whose /proc files and memory are read: this one,
// but in a program that records another one from outside (`jankbox attach`). THREAD-SAFE, NO-ALLOC,
// SIGNAL-SAFE, but for Set().
#ifndef JANKBOX_BASE_RECORDED_PROCESS_H_
#define JANKBOX_BASE_RECORDED_PROCESS_H_

#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace jankbox {

class RecordedProcess {
 public:
  // Another process, or with 0 this one again; while this one has no other thread.
  static void Set(int32_t pid) {
    pid_ = pid;
    if (pid == 0) snprintf(folder_, sizeof(folder_), "/proc/self");
    if (pid != 0) snprintf(folder_, sizeof(folder_), "/proc/%d", pid);
  }

  static bool IsThis() { return pid_ == 0; }
  static int32_t pid() { return pid_ != 0 ? pid_ : static_cast<int32_t>(getpid()); }
  // "/proc/self" or "/proc/1234".
  static const char* folder() { return folder_; }

 private:
  static inline int32_t pid_ = 0;  // 0: this one
  static inline char folder_[24] = "/proc/self";
};

}  // namespace jankbox

#endif  // JANKBOX_BASE_RECORDED_PROCESS_H_

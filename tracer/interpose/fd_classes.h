// The class of each descriptor, queried from the kernel once a second at most: a thread that
// reads byte by byte is not to pay a system call for each. A number that is closed or opened
// through a hook is forgotten at once; one that the C library gives to another file internally
// (fclose, dup2, pipe) may be reported by its former class for the rest of the second. HOT:
// NO-ALLOC, LOCK-FREE, SIGNAL-SAFE.
#ifndef JANKBOX_TRACER_INTERPOSE_FD_CLASSES_H_
#define JANKBOX_TRACER_INTERPOSE_FD_CLASSES_H_

#include <atomic>
#include <cstdint>

namespace jankbox {

class FdClasses {
 public:
  // A StackSample::FdClass as its number; 0 if `fd` is not open. May change errno.
  static uint8_t Of(int fd);

  static void Forget(int fd) {
    if (fd >= 0 && fd < kMaxDescriptors) known_[fd].store(0, std::memory_order_relaxed);
  }

  // Once a second, on the watcher.
  static void ForgetAll();

 private:
  static constexpr int kMaxDescriptors = 1024;  // higher ones are asked for each time

  static std::atomic<uint8_t> epoch_;                   // 1-31
  static std::atomic<uint8_t> known_[kMaxDescriptors];  // epoch << 3 | class
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_FD_CLASSES_H_

// Who wakes the loop of a watched thread. The loops of GLib, Qt, libuv and libutils wait for an
// event descriptor, to which another thread writes when it has posted a message. The descriptors
// are those that watched threads were seen to read; the first thread that writes to one after its
// last read is the one that woke the loop, which the reader records (kThread). HOT: NO-ALLOC, no
// lock, SIGNAL-SAFE, errno untouched; a write to another descriptor costs one load.
#ifndef JANKBOX_TRACER_INTERPOSE_LOOP_POSTS_H_
#define JANKBOX_TRACER_INTERPOSE_LOOP_POSTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace jankbox {

class LoopPosts {
 public:
  // Any thread is about to write `bytes` bytes to `fd`.
  static void BeforeWrite(int fd, size_t bytes) {
    if (__builtin_expect(MayWake(fd) && bytes == sizeof(uint64_t), 0)) Note(fd);
  }

  // The calling thread, which is watched, has read from an event descriptor.
  static void AfterRead(int fd);

  // `fd` is being closed, or was given to another file.
  static void Forget(int fd) {
    if (__builtin_expect(MayWake(fd), 0)) Drop(fd);
  }

 private:
  static constexpr size_t kMaxDescriptors = 16;

  struct Descriptor {
    std::atomic<int> number{0};          // the descriptor plus one; 0: free
    std::atomic<int32_t> reader_tid{0};  // whose own writes wake nobody
    std::atomic<int32_t> waker_tid{0};   // 0: nothing was written since the last read
    std::atomic<uint64_t> ticks{0};      // when it was
  };

  static uint64_t BitOf(int fd) { return uint64_t{1} << (static_cast<unsigned>(fd) % 64); }
  static bool MayWake(int fd) {
    return (bits_.load(std::memory_order_relaxed) & BitOf(fd)) != 0 && fd >= 0;
  }
  static Descriptor* Find(int fd);
  static Descriptor* Claim(int fd);
  static void Note(int fd);
  static void Drop(int fd);

  static std::atomic<uint64_t> bits_;  // of the descriptors, modulo 64
  static Descriptor descriptors_[kMaxDescriptors];
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_INTERPOSE_LOOP_POSTS_H_

// The message that the Looper's thread handles now: whether it is still the same one, and what it
// is called. Written by the Looper's thread, HOT: NO-ALLOC, no lock, no system call. Read by any.
#ifndef JANKBOX_SDK_ANDROID_JNI_RUNNING_MESSAGE_H_
#define JANKBOX_SDK_ANDROID_JNI_RUNNING_MESSAGE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

namespace jankbox {

class RunningMessage {
 public:
  // `name` is zero-terminated and at most 56 bytes long.
  void Begin(const char* name) {
    End();  // of the one whose own loop this comes from
    const size_t bytes = std::min<size_t>(strlen(name), kWords * 8 - 1);
    for (size_t i = 0; i <= bytes / 8; ++i) {  // the last word ends with a zero
      uint64_t word = 0;
      memcpy(&word, name + 8 * i, std::min<size_t>(8, bytes - 8 * i));
      name_[i].store(word, std::memory_order_relaxed);
    }
    Step();
  }
  void End() {
    if ((sequence_.load(std::memory_order_relaxed) & 1) != 0) Step();
  }

  // Odd while a message runs; another number for each.
  uint32_t Sequence() const { return sequence_.load(std::memory_order_acquire); }

  // The name of message `sequence`; "" if it does not run any more.
  std::string NameOf(uint32_t sequence) const {
    uint64_t words[kWords];
    for (size_t i = 0; i < kWords; ++i) words[i] = name_[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);  // pairs with the one in Step()
    if (sequence_.load(std::memory_order_relaxed) != sequence) return "";
    return reinterpret_cast<const char*>(words);
  }

 private:
  static constexpr size_t kWords = 8;

  void Step() {
    sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_release);  // the next name comes after this
  }

  std::atomic<uint32_t> sequence_{0};
  std::atomic<uint64_t> name_[kWords] = {};
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_ANDROID_JNI_RUNNING_MESSAGE_H_

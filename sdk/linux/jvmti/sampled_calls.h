// Java stacks of one thread during one message, and the path that most of them share: what
// dev.jankbox.SampledStacks does on Android. Also what the thread waited for in most of them.
// Threads: one; allocates.
#ifndef JANKBOX_SDK_LINUX_JVMTI_SAMPLED_CALLS_H_
#define JANKBOX_SDK_LINUX_JVMTI_SAMPLED_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace jankbox {

struct JavaCall {
  void* method = nullptr;  // a jmethodID
  int64_t location = 0;    // in its bytecode
};

class SampledCalls {
 public:
  // Outermost call first.
  using Stack = std::vector<JavaCall>;

  // Of many samples every second is dropped, and then every second new one.
  static constexpr size_t kMaxKept = 128;

  // `wait`: what the thread waits for; "": it does not wait.
  void Add(Stack stack, const std::string& wait);

  size_t count() const { return kept_.size(); }

  struct Path {
    Stack calls;      // outermost first, with the locations of the latest sample
    size_t seen = 0;  // samples that have all of them
  };
  // The calls of which each is in at least half of the samples under the one before.
  Path Blamed() const;

  // "TIMED_WAITING in java.lang.Thread.sleep, in 20 of 22 samples"; "" if most samples did not wait
  // for one thing.
  std::string Wait() const;

 private:
  std::vector<Stack> kept_;
  size_t stride_ = 1;  // every stride_-th sample is kept
  size_t taken_ = 0;
  std::unordered_map<std::string, size_t> waits_;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_JVMTI_SAMPLED_CALLS_H_

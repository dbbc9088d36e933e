// A point that one thread of a test waits at until another one has come by, at most 100 seconds, so
// that a failing test ends.
#ifndef JANKBOX_TESTS_FAKES_LATCH_H_
#define JANKBOX_TESTS_FAKES_LATCH_H_

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace jankbox {

class Latch {
 public:
  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    ++opened_;
    changed_.notify_all();
  }
  // Until it was opened `times` times. False: that did not happen.
  bool Wait(int times = 1) {
    std::unique_lock<std::mutex> lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(100), [&] { return opened_ >= times; });
  }
  int opened() {
    std::lock_guard<std::mutex> lock(mutex_);
    return opened_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int opened_ = 0;
};

}  // namespace jankbox

#endif  // JANKBOX_TESTS_FAKES_LATCH_H_

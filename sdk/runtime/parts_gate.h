// Between the thread that makes the parts of a recording, after jankbox_start() returned, and those
// that need them. Any thread.
#ifndef JANKBOX_SDK_RUNTIME_PARTS_GATE_H_
#define JANKBOX_SDK_RUNTIME_PARTS_GATE_H_

#include <cstdint>

#include "base/clock.h"
#include "base/mutex.h"

namespace jankbox {

class PartsGate {
 public:
  // The parts are there. False: the recording was given up meanwhile, and they are not to begin.
  bool Open() {
    MutexLock lock(&mutex_);
    if (state_ == State::kGivenUp) return false;
    state_ = State::kOpen;
    changed_.NotifyAll();
    return true;
  }

  bool is_open() {
    MutexLock lock(&mutex_);
    return state_ == State::kOpen;
  }

  // Waits for them until `deadline_ns` (CLOCK_MONOTONIC); false: they are not there.
  bool Await(uint64_t deadline_ns) {
    MutexLock lock(&mutex_);
    while (state_ == State::kMaking && changed_.WaitUntil(&mutex_, deadline_ns)) {
    }
    return state_ == State::kOpen;
  }

  // The same; if they are not there, Open() is false from now on.
  bool AwaitOrGiveUp(uint64_t deadline_ns) {
    if (Await(deadline_ns)) return true;
    MutexLock lock(&mutex_);
    if (state_ == State::kMaking) state_ = State::kGivenUp;
    return state_ == State::kOpen;
  }

 private:
  enum class State { kMaking, kOpen, kGivenUp };

  Mutex mutex_;
  CondVar changed_;
  State state_ GUARDED_BY(mutex_) = State::kMaking;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_PARTS_GATE_H_

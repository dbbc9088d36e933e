// How far the watcher's thread is, for those who wait for it.
#ifndef JANKBOX_SDK_RUNTIME_LOOK_PROGRESS_H_
#define JANKBOX_SDK_RUNTIME_LOOK_PROGRESS_H_

#include <cstdint>

#include "base/clock.h"
#include "base/mutex.h"
#include "tracer/event/watcher_wake.h"

namespace jankbox {

class LookProgress {
 public:
  // Of the watcher's thread: clock and modules are known, all threads were looked at, and were so
  // for the last time.
  void Begins() { Note(&begun_); }
  void Looked() {
    MutexLock lock(&mutex_);
    ++looks_;
    changed_.NotifyAll();
  }
  void LookedLast() { Note(&looked_last_); }

  void WaitBegun() {
    MutexLock lock(&mutex_);
    while (!begun_) changed_.Wait(&mutex_);
  }

  // These wait until `deadline_ns` of CLOCK_MONOTONIC at most; false then. Wakes the watcher until
  // all threads were looked at since the call.
  bool AwaitNext(uint64_t deadline_ns) {
    MutexLock lock(&mutex_);
    const uint64_t looked = looks_ + 2;  // one may be going on
    while (looks_ < looked && !looked_last_) {
      if (MonotonicNs() >= deadline_ns) return false;
      WatcherWake::word().Wake();  // for each, since it sleeps long after one that sees nothing
      changed_.WaitUntil(&mutex_, deadline_ns);
    }
    return true;
  }
  bool AwaitLast(uint64_t deadline_ns) {
    MutexLock lock(&mutex_);
    while (!looked_last_ && changed_.WaitUntil(&mutex_, deadline_ns)) {
    }
    return looked_last_;
  }

 private:
  void Note(bool* step) {
    MutexLock lock(&mutex_);
    *step = true;
    changed_.NotifyAll();
  }

  Mutex mutex_;
  CondVar changed_;
  bool begun_ GUARDED_BY(mutex_) = false;
  bool looked_last_ GUARDED_BY(mutex_) = false;
  uint64_t looks_ GUARDED_BY(mutex_) = 0;  // at all threads, so far
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_LOOK_PROGRESS_H_

// Names, CPU time and signal mask of Jankbox's own threads. Threads are created in sdk/runtime
// only.
#ifndef JANKBOX_BASE_OWN_THREAD_H_
#define JANKBOX_BASE_OWN_THREAD_H_

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/mutex.h"

namespace jankbox {

// The kernel's id of the calling thread (a system call: cache it on hot paths).
inline int CurrentTid() { return static_cast<int>(syscall(SYS_gettid)); }

// Names the calling thread (at most 15 characters are kept).
inline void NameCurrentThread(const char* name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// CPU time of one of Jankbox's threads, read from any other thread.
class ThreadCpuClock {
 public:
  void SetToCurrentThread() {
    clockid_t clock = 0;
    if (pthread_getcpuclockid(pthread_self(), &clock) != 0) return;
    clock_.store(clock, std::memory_order_relaxed);
    known_.store(true, std::memory_order_release);
  }
  // The thread is about to end: what it has used until now stays.
  void End() {
    final_ns_.store(ClockNs(CLOCK_THREAD_CPUTIME_ID), std::memory_order_relaxed);
    known_.store(false, std::memory_order_release);
  }
  // ns; 0 before SetToCurrentThread().
  uint64_t Read() const {
    return known_.load(std::memory_order_acquire) ? ClockNs(clock_.load(std::memory_order_relaxed))
                                                  : final_ns_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<clockid_t> clock_{0};
  std::atomic<uint64_t> final_ns_{0};
  std::atomic<bool> known_{false};
};

// Blocks every signal for the calling thread and the ones that it creates until destroyed, so that
// the app's signals are never delivered to a Jankbox thread.
class ScopedSignalBlock {
 public:
  ScopedSignalBlock() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &saved_);
  }
  ~ScopedSignalBlock() { pthread_sigmask(SIG_SETMASK, &saved_, nullptr); }
  ScopedSignalBlock(const ScopedSignalBlock&) = delete;
  ScopedSignalBlock& operator=(const ScopedSignalBlock&) = delete;

 private:
  sigset_t saved_;
};

// One of Jankbox's threads, with the descriptors of the one that starts it. A system that allows no
// further one refuses it: the app goes on.
class OwnThread {
 public:
  // False if it was refused. Not while one runs.
  bool Start(std::function<void()> run);
  // Waits for its end, until `deadline_ns` (CLOCK_MONOTONIC) at most, and returns at once if none
  // runs. False: it goes on, or stands still for good without memory. It uses this object and all
  // else that it was given for as long as the process lives, and is nobody's any more.
  bool Join(uint64_t deadline_ns);
  bool running() const { return running_; }

 private:
  static void* Run(void* self);
  static void StandStill();

  std::function<void()> run_;
  uint32_t fd_table_ = 0;  // of whoever made it
  pthread_t thread_{};
  bool running_ = false;
  Mutex mutex_;
  CondVar changed_;
  bool ended_ GUARDED_BY(mutex_) = false;
  bool stands_still_ GUARDED_BY(mutex_) = false;
};

}  // namespace jankbox

#endif  // JANKBOX_BASE_OWN_THREAD_H_

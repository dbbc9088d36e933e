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
#include <utility>

#include "base/clock.h"

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

// One of Jankbox's threads. A system that allows no further one refuses it: the app goes on.
class OwnThread {
 public:
  // False if it was refused. Not while one runs.
  bool Start(std::function<void()> run) {
    run_ = std::move(run);
    const auto start = [](void* self) -> void* {
      static_cast<OwnThread*>(self)->run_();
      return nullptr;
    };
    const ScopedSignalBlock no_signals;
    running_ = pthread_create(&thread_, nullptr, start, this) == 0;
    return running_;
  }
  // Returns at once if none runs.
  void Join() {
    if (running_) pthread_join(thread_, nullptr);
    running_ = false;
  }
  bool running() const { return running_; }

 private:
  std::function<void()> run_;
  pthread_t thread_{};
  bool running_ = false;
};

}  // namespace jankbox

#endif  // JANKBOX_BASE_OWN_THREAD_H_

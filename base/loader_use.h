// While one of Jankbox's threads is inside the loader (dlopen, dlsym, dl_iterate_phdr …) or changes
// hooks, the host does not fork: its child would inherit lists that are half changed and locks that
// nobody opens. fork() waits for the thread, at most kMaxWaitMs, and the thread waits for the fork.
// Header-only: the preload agent, which has a copy of the state of its own, needs it and nothing
// else. NO-ALLOC but for Register(). Threads: any.
#ifndef JANKBOX_BASE_LOADER_USE_H_
#define JANKBOX_BASE_LOADER_USE_H_

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include <atomic>

#include "base/thread_value.h"

namespace jankbox {

class LoaderUse {
 public:
  static constexpr int kMaxWaitMs = 100;  // that a fork of the host is delayed

  // Before the first use by another thread than the main one. Idempotent.
  static void Register() {
    static const int registered = pthread_atfork(BeforeFork, AfterForkInParent, AfterForkInChild);
    (void)registered;
  }

  LoaderUse() {
    t_depth = t_depth + 1;
    if (t_depth != 1) return;
    // A fork copies the page tables: as long as that takes, and no longer than a stuck one.
    constexpr int kMaxTurns = 5000;
    int turn = 0;
    while (!IsAdmitted() && ++turn < kMaxTurns) SleepAMillisecond();
    if (turn == kMaxTurns) users_.fetch_add(1);
    inside_.fetch_add(1);
  }
  ~LoaderUse() {
    t_depth = t_depth - 1;
    if (t_depth != 0) return;
    inside_.fetch_sub(1);
    users_.fetch_sub(1);
  }
  // This is a child that was forked while another thread was inside: what that thread changed may
  // be half done, and the locks that it held stay locked.
  static bool ForkedInside() { return forked_inside_.load(std::memory_order_relaxed); }
  LoaderUse(const LoaderUse&) = delete;
  LoaderUse& operator=(const LoaderUse&) = delete;

 private:
  static void SleepAMillisecond() {
    const int saved_errno = errno;  // the host's: it is in its fork()
    const timespec time = {0, 1'000'000};
    nanosleep(&time, nullptr);
    errno = saved_errno;
  }
  // This thread's own fork may call the host's handlers, which may start or stop a recording.
  static bool OthersFork() { return forks_.load() > t_forks; }
  static bool IsAdmitted() {
    if (OthersFork()) return false;
    users_.fetch_add(1);
    if (!OthersFork()) return true;
    users_.fetch_sub(1);
    return false;
  }
  // A library's constructor may fork inside our own dlopen(): that thread does not wait for itself.
  static void BeforeFork() {
    forks_.fetch_add(1);
    t_forks = t_forks + 1;
    if (t_depth != 0) return;
    for (int ms = 0; ms < kMaxWaitMs && users_.load() != 0; ++ms) SleepAMillisecond();
  }
  static void AfterForkInParent() {
    t_forks = t_forks - 1;
    forks_.fetch_sub(1);
  }
  // The other threads are not here.
  static void AfterForkInChild() {
    const int own = t_depth != 0 ? 1 : 0;
    users_.store(own);
    if (inside_.exchange(own) > own) forked_inside_.store(true);
    t_forks = 0;
    forks_.store(0);
  }

  static inline std::atomic<int> users_{0};  // inside, or about to see whether they may be
  static inline std::atomic<int> inside_{0};
  static inline std::atomic<int> forks_{0};
  static inline std::atomic<bool> forked_inside_{false};
  static inline JANKBOX_THREAD_VALUE(int, t_depth, 0);
  static inline JANKBOX_THREAD_VALUE(int, t_forks, 0);  // that this thread is in
};

}  // namespace jankbox

#endif  // JANKBOX_BASE_LOADER_USE_H_

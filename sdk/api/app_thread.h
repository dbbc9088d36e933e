// Threads with the app's descriptors, for its callbacks: those of the threads that write and upload
// reports are Jankbox's own (base/files/fd_table.h), so a callback there could neither write to the
// app's log nor send over its connections. Each waits without a time limit; none ends.
// THREAD-SAFE; allocates and locks, so none of it is for hot paths. FORK: a child starts its own.
#ifndef JANKBOX_SDK_API_APP_THREAD_H_
#define JANKBOX_SDK_API_APP_THREAD_H_

#include <unistd.h>

#include <atomic>
#include <functional>

#include "base/mutex.h"
#include "base/own_thread.h"

namespace jankbox {

class AppThread {
 public:
  static AppThread& ForReports();  // listeners
  static AppThread& ForTransport();

  // There is a callback from now on. On a thread of the app's.
  void Expect();
  // Starts those again whose callbacks a forked child has from its parent. On a thread of the
  // app's.
  static void StartExpected();
  // Runs `call`, and returns when it has ended: here, if the calling thread has the app's
  // descriptors, or the system allows no further thread.
  void Run(const std::function<void()>& call);

 private:
  void Loop();
  const std::function<void()>* AwaitCall();

  std::atomic<bool> expected_{false};
  std::atomic<pid_t> pid_{0};  // whose thread runs: a forked child has none of its parent's
  Mutex turn_;                 // locked first, for a whole call
  Mutex mutex_;
  CondVar changed_;
  OwnThread thread_ GUARDED_BY(mutex_);
  const std::function<void()>* call_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_API_APP_THREAD_H_

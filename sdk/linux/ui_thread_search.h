// The preload agent's search for a UI thread other than the main one, by what threads do
// (monitors/looper/ui_thread_signs): the first that is found is watched as the main thread is. One
// for each process.
#ifndef JANKBOX_SDK_LINUX_UI_THREAD_SEARCH_H_
#define JANKBOX_SDK_LINUX_UI_THREAD_SEARCH_H_

#include <atomic>

#include "monitors/looper/ui_thread_signs.h"
#include "monitors/looper/watched_loops.h"

namespace jankbox {

class UiThreadSearch {
 public:
  // `run_socket`: of the command that is told what was found; copied. Once, before main().
  static void Begin(const char* run_socket);

  // Nothing more is found, and no system call made. Any thread.
  static void End() { searches_.store(false, std::memory_order_relaxed); }

  // Before each wait of the calling thread. HOT.
  static void OnWait(const WaitCall& call) {
    if (!searches_.load(std::memory_order_relaxed)) return;
    if (WatchedLoops::OfThisThread() == nullptr && t_signs_.NoteWait()) Look(call);
  }

  // The thread that was found has a loop. Any thread.
  static bool LoopRuns() {
    const LoopDispatches* loop = found_.load(std::memory_order_acquire);
    return loop != nullptr && loop->loop_name()[0] != '\0';
  }

 private:
  [[gnu::cold, gnu::noinline]] static void Look(const WaitCall& call);

  // The agent is loaded with the program: its values are among those of the first libraries.
  __attribute__((
      tls_model("initial-exec"))) static inline thread_local constinit UiThreadSigns t_signs_;
  static inline std::atomic<bool> searches_{false};
  static inline std::atomic<const LoopDispatches*> found_{nullptr};
};

}  // namespace jankbox

#endif  // JANKBOX_SDK_LINUX_UI_THREAD_SEARCH_H_

// SIGQUIT, with which Android asks a process that does not respond for its stacks (a thread "Signal
// Catcher" waits for it in sigwait). The handler makes one system call, which wakes the watcher,
// and goes on to the handler that was there before; if there was none the watcher passes the signal
// on, once, to the thread that waits for it, which is looked up each time; if no thread waits, the
// process dies of it as it would have. Process-wide; a forked child behaves as if it were not here.
#ifndef JANKBOX_MONITORS_ANR_QUIT_SIGNAL_H_
#define JANKBOX_MONITORS_ANR_QUIT_SIGNAL_H_

#include <cstdint>
#include <string>

namespace jankbox {

class QuitSignal {
 public:
  // Takes the signal over. If the calling thread is the main thread and blocks it, which the
  // kernel would rather give to another tool then, it is unblocked there. Empty, or why it is not
  // seen. App's thread, under the lifecycle's lock; Remove() too.
  static std::string Install();

  // Restores the handler if it is still Jankbox's.
  static void Remove();

  // Signals since the last call. Watcher thread, as the rest.
  static uint64_t Take();

  // Passes one on. False if the last one has not been taken yet: try again in a moment.
  static bool PassOn();
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_ANR_QUIT_SIGNAL_H_

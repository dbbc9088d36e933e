// Whose loops are watched: the main thread's, those of threads that ask for it, and of threads with
// names that an option lists. Worker threads have event loops too, and no user waits for those: by
// default they raise nothing. The preload agent and the SDK's own hooks have a copy each.
#ifndef JANKBOX_MONITORS_LOOPER_WATCHED_LOOPS_H_
#define JANKBOX_MONITORS_LOOPER_WATCHED_LOOPS_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "monitors/looper/loop_dispatches.h"

namespace jankbox {

// Whether `list`, names between commas of which one may end in `*` for any rest, contains `name`.
bool NameIsListed(std::string_view list, std::string_view name);

class WatchedLoops {
 public:
  static constexpr int kMaxLoops = 8;  // the main thread's, and seven others

  // Names of threads (as of a thread's first wait, at most 15 bytes) whose loops are watched too;
  // "" none. Kept. Not on a hot path: allocates.
  static void SetWanted(const char* names);

  // The calling thread's loop; null if it is not watched. Two system calls the first time, and
  // again after each SetWanted(); else NO-ALLOC, no lock, no system call; HOT.
  static LoopDispatches* OfThisThread();

  // The calling thread's loop is watched from now on. False if there is no room for it.
  static bool WatchThisThread();

  // The calling thread's loop is reported by other means: none of its waits counts. Until the next
  // SetWanted().
  static void LeaveThisThread();

  // The main thread's, from any thread: only its loop_name() may be asked.
  static const LoopDispatches& Main();

  // FORK: the child's only thread is its main thread, whatever it was in the parent.
  static void ForgetAll();
};

}  // namespace jankbox

#endif  // JANKBOX_MONITORS_LOOPER_WATCHED_LOOPS_H_

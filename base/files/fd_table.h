// Whose descriptors a thread has. An app may close all of its own, as daemons and sandboxes do with
// closefrom(), and open its files under the same numbers: what Jankbox then wrote or closed would
// be the app's. So the first of Jankbox's threads leaves the app's table, and the threads that it
// makes have its new one. A number of one table means nothing in another: ScopedFd closes only in
// the table that its descriptor is of.
//
// Linux from 5.9 on. Elsewhere, and under a seccomp filter, which may kill for the call, all
// threads have the app's table; KeptFd then tells by the file whether a number is still Jankbox's.
// NO-ALLOC; no lock. See docs/decisions/0027-descriptor-tables.md.
#ifndef JANKBOX_BASE_FILES_FD_TABLE_H_
#define JANKBOX_BASE_FILES_FD_TABLE_H_

#include <cstdint>

#include "base/thread_value.h"

namespace jankbox {

class FdTable {
 public:
  static constexpr uint32_t kOfTheApp = 0;

#if defined(__ANDROID__)
  static constexpr bool kMayDiffer = false;
  static uint32_t OfThisThread() { return kOfTheApp; }
  static void Inherit(uint32_t) {}
  static bool Leave(int) { return false; }
#else
  static constexpr bool kMayDiffer = true;
  static uint32_t OfThisThread() { return t_table_; }
  // The calling thread is new, and was made by a thread that has `table`.
  static void Inherit(uint32_t table) { t_table_ = table; }
  // The calling thread gets a table with nothing but `kept` (-1: nothing), which stays open in the
  // app's as well. Standard input, output and errors lead nowhere. False: it stays where it is.
  static bool Leave(int kept);

 private:
  static inline JANKBOX_THREAD_VALUE(uint32_t, t_table_, kOfTheApp);
#endif
};

// One of the app's descriptors, for a moment: `fd` itself if the calling thread has the app's
// table, else the same open file under another number. The app's main thread must still run.
class AppFd {
 public:
  explicit AppFd(int fd);
  ~AppFd();
  AppFd(const AppFd&) = delete;
  AppFd& operator=(const AppFd&) = delete;

  int get() const { return fd_; }  // -1: not open

 private:
  int fd_;
  [[maybe_unused]] bool is_own_ = false;  // on Android never
};

}  // namespace jankbox

#endif  // JANKBOX_BASE_FILES_FD_TABLE_H_

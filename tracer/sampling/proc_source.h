// A blocked thread's system call and stack from /proc/self/task/TID, without a signal: pc and sp
// only, all other registers unknown. Lives on the watcher thread; allocates only in Open().
#ifndef JANKBOX_TRACER_SAMPLING_PROC_SOURCE_H_
#define JANKBOX_TRACER_SAMPLING_PROC_SOURCE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/kept_fd.h"
#include "tracer/unwind/machine.h"
#include "tracer/unwind/stack_bounds.h"

namespace jankbox {

// One reading of /proc/self/task/TID/syscall.
struct SystemCallLine {
  bool running = false;
  int64_t number = -1;  // -1: blocked outside of a system call (a page fault, say)
  uint64_t first_argument = 0;
  uint64_t second_argument = 0;
  uint64_t third_argument = 0;
  uint64_t sp = 0;
  uint64_t pc = 0;
};

// "running", "number a0 … a5 sp pc" or "-1 sp pc"; false for anything else.
bool ParseSystemCallLine(std::string_view line, SystemCallLine* parsed);

// The letter after the last ')' of /proc/self/task/TID/stat; '?' if there is none.
char ParseThreadState(std::string_view stat);

class ProcSource {
 public:
  enum class Look {
    kBlocked,  // `call`, `state` and, if it could be read, the stack are filled
    kRunning,
    kMoved,  // it woke while its stack was copied, twice
    kGone,   // no such thread, or /proc says nothing
  };

  struct View {
    SystemCallLine call;
    char state = '?';
    Registers registers;
    StackCopy stack;
  };

  explicit ProcSource(int tid);

  // Checks the thread; its stack is copied into `buffer`, which must outlive the view.
  Look LookAt(std::span<std::byte> buffer, View* view);

  // Whether it has not run since LookAt() found it blocked the last time, and still does not: it
  // would be seen as it was then. False if the kernel does not count that.
  bool IsAsBefore() const;

  // False if system calls cannot be seen: then a blocked thread's view has its state only.
  bool sees_system_calls() const { return syscall_.valid(); }

 private:
  Look LookOnce(std::span<std::byte> buffer, View* view);

  KeptFd syscall_;
  KeptFd stat_;
  KeptFd schedstat_;
  // When it was found blocked the last time.
  std::array<char, 64> blocked_schedstat_ = {};
  char blocked_state_ = '?';
  StackBounds bounds_;
};

}  // namespace jankbox

#endif  // JANKBOX_TRACER_SAMPLING_PROC_SOURCE_H_

// One program run to its end, without a shell, its output taken as it comes. It has no input and a
// process group of its own: the terminal's interrupt key reaches us, not it. Threads: one; waits.
#ifndef JANKBOX_TOOLS_ADB_CAPTURED_PROCESS_H_
#define JANKBOX_TOOLS_ADB_CAPTURED_PROCESS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace jankbox::tools {

// How a user interrupts the wait. `fd` becomes readable when `asked` may have become
// true; -1: never.
struct Interrupt {
  int fd = -1;
  std::function<bool()> asked = [] { return false; };
};

struct CapturedEnd {
  enum class How { kExited, kKilled, kNotStarted, kSilent, kInterrupted, kRefused };
  How how = How::kExited;
  int status = 0;   // kExited: its exit status; kKilled: the signal; kNotStarted: errno
  std::string err;  // what it wrote to stderr, the first 64 KiB

  bool succeeded() const { return how == How::kExited && status == 0; }
};

// argv[0] is looked up in PATH. If it writes nothing for `patience_ns` (kSilent), is interrupted
// or `on_output` returns false (kRefused), it is killed.
CapturedEnd RunCaptured(const std::vector<std::string>& argv, uint64_t patience_ns,
                        const Interrupt& interrupt,
                        const std::function<bool(std::string_view)>& on_output);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ADB_CAPTURED_PROCESS_H_

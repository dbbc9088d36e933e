// The one runner of other programs, without a shell, for Jankbox's programs, tests and benches; no
// part of libjankbox.so. ChildProcess starts one and watches it; RunCaptured() runs one to its end
// and passes on its output. Threads: the caller's; allocates; RunCaptured() waits.
#ifndef JANKBOX_BASE_PROCESS_RUNNER_H_
#define JANKBOX_BASE_PROCESS_RUNNER_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/scoped_fd.h"

namespace jankbox {

// What a standard stream of a program leads to.
enum class ChildStream : uint8_t {
  kInherited,
  kNowhere,  // /dev/null
  kPiped,    // ChildProcess has the other end
};

struct ChildOptions {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH
  // Replaces variables of this process of the same name.
  std::vector<std::pair<std::string, std::string>> environment;
  // Variables of this process that the program does not get; null: it gets all.
  std::function<bool(std::string_view name)> drops_variable;
  ChildStream in = ChildStream::kInherited;
  ChildStream out = ChildStream::kInherited;
  ChildStream err = ChildStream::kInherited;
  // A process group of its own, all signals at their defaults and unblocked: the terminal's
  // interrupt key reaches this process, not the program.
  bool detached = false;
  std::function<void()> in_child;  // between fork and exec, last; SIGNAL-SAFE
};

class ChildProcess {
 public:
  ChildProcess() = default;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Leaves the program running.
  ~ChildProcess() = default;

  // Returns 0, or the errno of what went wrong; ENOENT if there is no such program.
  int Start(const ChildOptions& options);

  pid_t pid() const { return pid_; }

  // True once the program has ended; never waits.
  bool HasEnded();
  void Wait();
  // Does nothing once the program has ended.
  void Signal(int signal);
  // Ends the program, if detached with its group, and waits.
  void Kill();

  // As of waitpid(). REQUIRES that the program has ended.
  int wait_status() const { return wait_status_; }

  // This process's ends of the streams that are kPiped.
  ScopedFd& in() { return in_; }
  ScopedFd& out() { return out_; }
  ScopedFd& err() { return err_; }

 private:
  pid_t pid_ = -1;
  int wait_status_ = 0;
  bool ended_ = false;
  bool detached_ = false;
  ScopedFd in_, out_, err_;
};

// A request to give up waiting. `fd` becomes readable when `asked` may have become true; -1: never.
struct Interrupt {
  int fd = -1;
  std::function<bool()> asked = [] { return false; };
};

struct CapturedEnd {
  enum class How { kExited, kKilled, kNotStarted, kSilent, kInterrupted, kRefused };
  How how = How::kExited;
  int status = 0;   // kExited: its exit status; kKilled: the signal; kNotStarted: errno
  std::string err;  // what it wrote to stderr, the first 64 KiB
};

// Runs a program without input. If it writes nothing for `patience_ns` (kSilent), is interrupted or
// `on_output` returns false (kRefused), it is killed.
CapturedEnd RunCaptured(const std::vector<std::string>& argv, uint64_t patience_ns,
                        const Interrupt& interrupt,
                        const std::function<bool(std::string_view)>& on_output);

}  // namespace jankbox

#endif  // JANKBOX_BASE_PROCESS_RUNNER_H_

// The program that `jankbox run` runs. It is started unchanged except for its environment, and
// jankbox exits with its status. Threads: one, and none other at Start() (it forks).
#ifndef JANKBOX_TOOLS_RUN_CHILD_PROCESS_H_
#define JANKBOX_TOOLS_RUN_CHILD_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace jankbox::tools {

class ChildProcess {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  // Starts argv[0] (looked up in PATH) with `added` in its environment. `in_child` runs between
  // fork and exec and must be SIGNAL-SAFE. Returns 0, or the errno of what went wrong.
  int Start(const std::vector<std::string>& argv, const Environment& added,
            const std::function<void()>& in_child);

  pid_t pid() const { return pid_; }

  // True once the program has ended; never waits.
  bool HasEnded();

  // Passes a signal on while the program lives.
  void Signal(int signal);

  // The status to exit with; a program that a signal killed ends us by the same one, so that
  // whoever waits for us sees no difference. REQUIRES HasEnded().
  int EndAsItDid() const;

 private:
  pid_t pid_ = -1;
  int wait_status_ = 0;
  bool ended_ = false;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_RUN_CHILD_PROCESS_H_

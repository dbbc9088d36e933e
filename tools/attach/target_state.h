// What the kernel says about the recorded process that a look at one of its threads does not show:
// its terminal, and whether its control group is frozen. Cold; allocates. The watching thread's.
#ifndef JANKBOX_TOOLS_ATTACH_TARGET_STATE_H_
#define JANKBOX_TOOLS_ATTACH_TARGET_STATE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jankbox::tools {

// As UsersTerminals() (monitors/looper/user_terminal.h) of process `pid`: a bit for each descriptor
// below 16 that is its controlling terminal or /dev/tty, except for output and errors. 0 if its
// descriptors may not be read.
uint64_t TerminalsOf(int32_t pid);

// The files that say whether a control group is frozen, for the text of /proc/PID/cgroup: of the
// second version's freezer, also where systems mount it beside the first version's, and of that.
std::vector<std::string> FreezerFiles(std::string_view cgroups);

// Whether the text of one of them says so.
bool SaysFrozen(std::string_view text);

class TargetFreezer {
 public:
  // Looks for the files; once a second, since a process may move to another group.
  void Find();
  bool IsFrozen() const;

 private:
  std::vector<std::string> files_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_TARGET_STATE_H_

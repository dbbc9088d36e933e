// Under `jankbox run` the recorder's warnings go to that command, as datagrams "error: <text>" to
// the abstract socket that $JANKBOX_RUN_SOCKET names, so that the program's own output stays as it
// is and a whole process tree tells an error once. "watched: <fields>" says which loops it watches,
// "instance: <name>" leaves an ftrace instance to the command, which removes it: that takes long.
// "counted: <pid> <incidents>" says how many incidents of the process so far have no report,
// because the CPU budget was used up.
#ifndef JANKBOX_SDK_RUNTIME_RUN_CHANNEL_H_
#define JANKBOX_SDK_RUNTIME_RUN_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace jankbox {

// Sends the log, and what is to be removed, to `jankbox run` where there is one. Called before
// anything is logged.
void UseRunChannel();

struct WatchedLoopNote {
  size_t index = 0;  // in the ring
  std::string thread;
  std::string loop;  // "": the thread starts up, and no loop of it has waited yet
  uint64_t messages = 0;
  bool ended = false;  // false: the thread is watched from now on
};

// The fields of a "watched:" message.
std::string WatchedText(int pid, const std::string& process, const WatchedLoopNote& note);

// Tells `jankbox run`, if there is one. Never waits. Jankbox's own threads.
void TellRun(const WatchedLoopNote& note);
void TellRunOfCounted(uint64_t incidents);

}  // namespace jankbox

#endif  // JANKBOX_SDK_RUNTIME_RUN_CHANNEL_H_

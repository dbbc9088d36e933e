// The functions of the C library in which loops wait, and exit(): where a process has them, and one
// call as LoopWaits takes it, from the argument registers. The watching thread's.
#ifndef JANKBOX_TOOLS_ATTACH_WAIT_CALL_H_
#define JANKBOX_TOOLS_ATTACH_WAIT_CALL_H_

#include <sys/select.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "monitors/looper/loop_waits.h"
#include "tools/attach/target_memory.h"

namespace jankbox::tools {

// Where its timeout is, and what that is. kNone: it is no wait, but exit().
enum class WaitForm : uint8_t { kNone, kPoll, kPpoll, kEpoll, kEpollPwait2, kSelect, kPselect };

struct WaitFunction {
  std::string name;  // "poll"
  WaitForm form = WaitForm::kPoll;
  uint64_t address = 0;  // of its first instruction
  uint64_t size = 0;
};

// Those of the C library that is among `modules`, or of a program that has it inside; in the order
// in which they are likely to be a loop's.
// The last is exit().
std::vector<WaitFunction> FindWaitFunctions(const ModuleMap& modules);

// The form of a system call, by its number; none: no loop waits in it.
std::optional<WaitForm> WaitFormOf(int64_t system_call);

// One call; owns what `call` points to.
class TargetWait {
 public:
  // `call_site` is the address that the call returns to, `stack` its caller's stack pointer. Lists
  // of descriptors are read from the process: as they are now, if it has gone on since.
  void Read(WaitForm form, std::span<const uint64_t, 6> arguments, uint64_t call_site,
            uint64_t stack, const TargetMemory& memory);

  const WaitCall& call() const { return call_; }

 private:
  void ReadPollList(uint64_t address, uint64_t count, const TargetMemory& memory);
  void ReadSets(std::span<const uint64_t, 6> arguments, const TargetMemory& memory);

  WaitCall call_;
  std::vector<int> fds_;
  std::array<fd_set, 3> sets_;
};

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_WAIT_CALL_H_

// Whether a process can be watched from outside, and if not, why and what would change that.
// Cold; allocates. Any thread.
#ifndef JANKBOX_TOOLS_ATTACH_TARGET_RIGHTS_H_
#define JANKBOX_TOOLS_ATTACH_TARGET_RIGHTS_H_

#include <cstdint>
#include <string>

namespace jankbox::tools {

// What the system says about a process that is to be watched.
struct TargetFacts {
  int32_t pid = 0;
  bool exists = false;
  bool is_this = false;    // jankbox itself
  int32_t process = 0;     // that a thread's id belongs to; else as `pid`
  bool has_ended = false;  // its parent has not waited for it yet
  bool is_kernel_thread = false;
  bool is_32_bit = false;
  std::string jankbox_library;  // that is in it, by its file name; empty: none
  std::string user;             // that it belongs to
  bool same_user = false;
  bool memory_readable = false;  // also /proc/PID/syscall
  bool is_root = false;          // jankbox runs as root, perhaps without all of its capabilities
  bool may_ptrace = false;       // CAP_SYS_PTRACE
  int ptrace_scope = -1;         // kernel.yama.ptrace_scope; -1: the kernel has no Yama
  int perf_errno = 0;            // of an event of its main thread, user space only; 0: it works
  int perf_paranoid = 0;         // kernel.perf_event_paranoid
};

// REQUIRES that RecordedProcess is that process.
TargetFacts ReadTargetFacts(int32_t pid);

// Why it cannot be watched, as one line for the user; empty if it can.
std::string WhyNotAttach(const TargetFacts& facts);

// The name of the program that a process runs.
std::string NameOfProcess(int32_t pid);

}  // namespace jankbox::tools

#endif  // JANKBOX_TOOLS_ATTACH_TARGET_RIGHTS_H_

// A child program whose main thread is watched by ptrace between two marks that it sets itself:
// instruction by instruction, or system call by system call. Its other threads run free. One
// thread; Linux. x86-64 only for instructions.
#ifndef JANKBOX_BENCH_HARNESS_TRACED_CHILD_H_
#define JANKBOX_BENCH_HARNESS_TRACED_CHILD_H_

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace jankbox::bench {

// In the child: from the first mark on its calling thread is watched, up to the second.
inline void TraceMark() {
#if defined(__x86_64__)
  asm volatile("int3" : : : "memory");
#else
  raise(SIGTRAP);
#endif
}
inline void BeginTraced() {
  ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
  TraceMark();
}
inline void EndTraced() { TraceMark(); }

struct TracedSyscall {
  uint64_t number = 0;
  uint64_t arguments[6] = {};
};

class TracedChild {
 public:
  // Starts `argv` and waits for its first mark. Throws std::runtime_error if it ends before, or
  // if this process may not trace.
  explicit TracedChild(const std::vector<std::string>& argv);
  ~TracedChild();  // ends the child
  TracedChild(const TracedChild&) = delete;
  TracedChild& operator=(const TracedChild&) = delete;

  // Calls `visit(address of the instruction that comes next)` before each one; it returns false at
  // the second mark.
  void Step(const std::function<bool(uint64_t)>& visit);

  // Every system call until the second mark.
  void ListSyscalls(const std::function<void(const TracedSyscall&)>& visit);

  // `count` bytes of its memory; fewer if it ends.
  size_t Read(uint64_t address, uint8_t* bytes, size_t count) const;

  // Its output on stdout after the second mark, to its end.
  std::string Finish();

 private:
  void StepHere(const std::function<bool(uint64_t)>& visit);
  // The signal that it stopped with next; throws if it ended.
  int WaitForStop();
  uint64_t InstructionPointer() const;

  pid_t pid_ = -1;
  int output_ = -1;
};

}  // namespace jankbox::bench

#endif  // JANKBOX_BENCH_HARNESS_TRACED_CHILD_H_

#include "bench/harness/traced_child.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace jankbox::bench {
namespace {

// Both on one processor: waking the other one costs many times a step.
void RunBeside(pid_t pid) {
  cpu_set_t here;
  CPU_ZERO(&here);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &here);
  sched_setaffinity(0, sizeof(here), &here);
  sched_setaffinity(pid, sizeof(here), &here);
}

std::runtime_error Failed(const char* what) {
  return std::runtime_error(std::string(what) + ": " + strerror(errno));
}

}  // namespace

TracedChild::TracedChild(const std::vector<std::string>& argv) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Failed("pipe");
  pid_ = fork();
  if (pid_ < 0) throw Failed("fork");
  if (pid_ == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  close(ends[1]);
  output_ = ends[0];
  if (WaitForStop() != SIGTRAP) throw std::runtime_error(argv[0] + " may not be traced");
  ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD);
}

TracedChild::~TracedChild() {
  if (output_ >= 0) close(output_);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, __WALL) < 0 && errno == EINTR) {
  }
}

int TracedChild::WaitForStop() {
  int status = 0;
  while (waitpid(pid_, &status, __WALL) < 0) {
    if (errno != EINTR) throw Failed("waitpid");
  }
  if (WIFSTOPPED(status)) return WSTOPSIG(status);
  pid_ = -1;
  throw std::runtime_error("a traced program ended before its mark");
}

uint64_t TracedChild::InstructionPointer() const {
#if defined(__x86_64__)
  return static_cast<uint64_t>(ptrace(
      PTRACE_PEEKUSER, pid_, offsetof(user, regs) + offsetof(user_regs_struct, rip), nullptr));
#else
  throw std::runtime_error("instructions are stepped on x86-64 only");
#endif
}

void TracedChild::Step(const std::function<bool(uint64_t)>& visit) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof(before), &before);
  RunBeside(pid_);
  StepHere(visit);
  sched_setaffinity(0, sizeof(before), &before);
}

void TracedChild::StepHere(const std::function<bool(uint64_t)>& visit) {
  for (;;) {
    const bool last = !visit(InstructionPointer());
    int signal = 0;
    if (ptrace(PTRACE_SINGLESTEP, pid_, nullptr, nullptr) != 0) throw Failed("single step");
    while ((signal = WaitForStop()) != SIGTRAP) {
      ptrace(PTRACE_SINGLESTEP, pid_, nullptr, static_cast<intptr_t>(signal));
    }
    if (last) return;
  }
}

void TracedChild::ListSyscalls(const std::function<void(const TracedSyscall&)>& visit) {
  int signal = 0;
  for (;;) {
    if (ptrace(PTRACE_SYSCALL, pid_, nullptr, static_cast<intptr_t>(signal)) != 0) {
      throw Failed("system call step");
    }
    const int stop = WaitForStop();
    signal = 0;
    if (stop == SIGTRAP) return;
    if (stop != (SIGTRAP | 0x80)) {
      signal = stop;
      continue;
    }
    __ptrace_syscall_info call{};
    ptrace(PTRACE_GET_SYSCALL_INFO, pid_, sizeof(call), &call);
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY) continue;
    TracedSyscall traced;
    traced.number = call.entry.nr;
    for (size_t i = 0; i < 6; ++i) traced.arguments[i] = call.entry.args[i];
    visit(traced);
  }
}

size_t TracedChild::Read(uint64_t address, uint8_t* bytes, size_t count) const {
  iovec local = {bytes, count};
  iovec remote = {reinterpret_cast<void*>(address), count};
  ssize_t n = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  for (; n < 0 && count > 1; n = process_vm_readv(pid_, &local, 1, &remote, 1, 0)) {
    local.iov_len = remote.iov_len = --count;  // the mapping's last bytes
  }
  return n < 0 ? 0 : static_cast<size_t>(n);
}

std::string TracedChild::Finish() {
  ptrace(PTRACE_DETACH, pid_, nullptr, nullptr);
  std::string text;
  char piece[4096];
  for (ssize_t n; (n = read(output_, piece, sizeof(piece))) > 0;) {
    text.append(piece, static_cast<size_t>(n));
  }
  while (waitpid(pid_, nullptr, __WALL) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return text;
}

}  // namespace jankbox::bench

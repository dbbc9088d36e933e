#include "bench/harness/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>

#include "base/scoped_fd.h"

namespace jankbox::bench {
namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read.Reset(ends[0]);
    write.Reset(ends[1]);
  }
  ScopedFd read, write;
};

[[noreturn]] void Exec(const std::vector<std::string>& argv, int out, int errors) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

// Reads both until they end.
void Drain(int out, int errors, ChildResult* result) {
  pollfd fds[2] = {{out, POLLIN, 0}, {errors, POLLIN, 0}};
  std::string* texts[2] = {&result->output, &result->errors};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char piece[4096];
      const ssize_t n = read(fds[i].fd, piece, sizeof(piece));
      if (n > 0) texts[i]->append(piece, static_cast<size_t>(n));
      if (n == 0) fds[i].fd = -1;
    }
  }
}

std::filesystem::path BuildFolder() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
}

}  // namespace

ChildResult RunProgram(const std::vector<std::string>& argv) {
  Pipe out, errors;
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("no process");
  if (pid == 0) Exec(argv, out.write.get(), errors.write.get());
  out.write.Reset();
  errors.write.Reset();
  ChildResult result;
  Drain(out.read.get(), errors.read.get(), &result);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string BenchPart(const std::string& name) { return BuildFolder() / "bench_parts" / name; }
std::string BuiltLibrary(const std::string& name) { return BuildFolder() / "lib" / name; }
std::string BuiltProgram(const std::string& name) { return BuildFolder() / "bin" / name; }

}  // namespace jankbox::bench

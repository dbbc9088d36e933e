#include "tools/run/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "base/file.h"
#include "base/scoped_fd.h"
#include "tools/terminal/exit_code.h"

namespace jankbox::tools {
namespace {

// The environment of this process with `added` in place of what has the same names.
std::vector<std::string> MergedEnvironment(const ChildProcess::Environment& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [added_name, value] : added) replaced = replaced || added_name == name;
    if (!replaced) merged.push_back(text);
  }
  for (const auto& [name, value] : added) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// A folder of PATH that may not be searched makes exec say EACCES for a program that is nowhere.
int TrueExecError(int error, const std::string& program) {
  const char* path = getenv("PATH");
  if (error != EACCES || program.find('/') != std::string::npos || path == nullptr) return error;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access(JoinPath(folder.empty() ? "." : folder, program).c_str(), F_OK) == 0) return EACCES;
  }
  return ENOENT;
}

}  // namespace

int ChildProcess::Start(const std::vector<std::string>& argv, const Environment& added,
                        const std::function<void()>& in_child) {
  const std::vector<std::string> environment = MergedEnvironment(added);
  const std::vector<char*> argv_pointers = Pointers(argv);
  const std::vector<char*> environment_pointers = Pointers(environment);
  // exec closes the pipe; what comes through it is an exec that failed, never the program's status.
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  ScopedFd reader(ends[0]);
  ScopedFd writer(ends[1]);
  pid_ = fork();
  if (pid_ < 0) return errno;
  if (pid_ == 0) {
    in_child();
    execvpe(argv_pointers[0], argv_pointers.data(), environment_pointers.data());
    const int error = errno;
    (void)!write(writer.get(), &error, sizeof(error));
    _exit(kExitNotFound);
  }
  writer.Reset();
  int error = 0;
  ssize_t n;
  do {
    n = read(reader.get(), &error, sizeof(error));
  } while (n < 0 && errno == EINTR);
  if (n != sizeof(error)) return 0;
  waitpid(pid_, nullptr, 0);
  ended_ = true;
  return TrueExecError(error, argv[0]);
}

bool ChildProcess::HasEnded() {
  if (!ended_ && waitpid(pid_, &wait_status_, WNOHANG) == pid_) ended_ = true;
  return ended_;
}

void ChildProcess::Signal(int signal) {
  if (!HasEnded()) kill(pid_, signal);
}

int ChildProcess::EndAsItDid() const {
  if (WIFEXITED(wait_status_)) return WEXITSTATUS(wait_status_);
  const int signal = WTERMSIG(wait_status_);
  const rlimit no_core{0, 0};  // the program has left its own
  setrlimit(RLIMIT_CORE, &no_core);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  kill(getpid(), signal);
  return 128 + signal;  // as a shell says it
}

}  // namespace jankbox::tools

#include "base/process_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>

#include "base/clock.h"
#include "base/file.h"

namespace jankbox {
namespace {

constexpr size_t kMaxErrorBytes = 64 << 10;
constexpr int kPollMs = 50;
constexpr int kNoProgram = 127;  // as a shell's

struct Pipe {
  ScopedFd reader;
  ScopedFd writer;
};

bool OpenPipe(Pipe* pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pipe->reader.Reset(ends[0]);
  pipe->writer.Reset(ends[1]);
  return true;
}

std::vector<std::string> EnvironmentOf(const ChildOptions& options) {
  std::vector<std::string> merged;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(options.environment.begin(), options.environment.end(),
                                      [name](const auto& added) { return added.first == name; });
    const bool dropped = options.drops_variable != nullptr && options.drops_variable(name);
    if (!replaced && !dropped) merged.emplace_back(text);
  }
  for (const auto& [name, value] : options.environment) merged.push_back(name + "=" + value);
  return merged;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// exec reports EACCES for a program that is nowhere if a folder of PATH may not be searched.
int TrueExecError(int error, const std::string& program) {
  const char* path = getenv("PATH");
  if (error != EACCES || program.find('/') != std::string::npos || path == nullptr) return error;
  std::istringstream folders(path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access(JoinPath(folder.empty() ? "." : folder, program).c_str(), F_OK) == 0) return EACCES;
  }
  return ENOENT;
}

// --- In the child, between fork and exec. SIGNAL-SAFE.

void Connect(ChildStream stream, int pipe_end, int target) {
  if (stream == ChildStream::kInherited) return;
  const int fd = stream == ChildStream::kPiped ? pipe_end : open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd == target) {
    fcntl(fd, F_SETFD, 0);
  } else {
    dup2(fd, target);
  }
}

void Detach() {
  setpgid(0, 0);
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) sigaction(signal, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

// --- Back in the parent.

// exec closes the pipe: what comes through it is the errno of an exec that failed.
int ReadExecError(int fd) {
  int error = 0;
  ssize_t n;
  do {
    n = read(fd, &error, sizeof(error));
  } while (n < 0 && errno == EINTR);
  return n == sizeof(error) ? error : 0;
}

// Reads what is there. False if that was nothing.
bool ReadSome(ScopedFd* fd, const std::function<void(std::string_view)>& on_piece) {
  char block[65536];
  const ssize_t n = fd->valid() ? read(fd->get(), block, sizeof(block)) : -1;
  if (n == 0) fd->Reset();
  if (n > 0) on_piece(std::string_view(block, static_cast<size_t>(n)));
  return n > 0;
}

CapturedEnd EndOf(const ChildProcess& child, std::string err) {
  const int status = child.wait_status();
  if (WIFSIGNALED(status)) return {CapturedEnd::How::kKilled, WTERMSIG(status), std::move(err)};
  return {CapturedEnd::How::kExited, WEXITSTATUS(status), std::move(err)};
}

}  // namespace

int ChildProcess::Start(const ChildOptions& options) {
  const std::vector<std::string> environment = EnvironmentOf(options);
  const std::vector<char*> argv = Pointers(options.argv);
  const std::vector<char*> envp = Pointers(environment);
  Pipe in, out, err, failure;
  for (Pipe* pipe : {&in, &out, &err, &failure}) {
    if (!OpenPipe(pipe)) return errno;
  }
  pid_ = fork();
  if (pid_ < 0) return errno;
  if (pid_ == 0) {
    Connect(options.in, in.reader.get(), STDIN_FILENO);
    Connect(options.out, out.writer.get(), STDOUT_FILENO);
    Connect(options.err, err.writer.get(), STDERR_FILENO);
    if (options.detached) Detach();
    if (options.in_child) options.in_child();
    execvpe(argv[0], argv.data(), envp.data());
    const int error = errno;
    (void)!write(failure.writer.get(), &error, sizeof(error));
    _exit(kNoProgram);
  }
  failure.writer.Reset();
  const int error = ReadExecError(failure.reader.get());
  if (error != 0) {
    Wait();
    return TrueExecError(error, options.argv[0]);
  }
  detached_ = options.detached;
  if (options.in == ChildStream::kPiped) in_ = std::move(in.writer);
  if (options.out == ChildStream::kPiped) out_ = std::move(out.reader);
  if (options.err == ChildStream::kPiped) err_ = std::move(err.reader);
  return 0;
}

bool ChildProcess::HasEnded() {
  if (!ended_ && waitpid(pid_, &wait_status_, WNOHANG) == pid_) ended_ = true;
  return ended_;
}

void ChildProcess::Wait() {
  if (ended_) return;
  while (waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
}

void ChildProcess::Signal(int signal) {
  if (!HasEnded()) kill(pid_, signal);
}

void ChildProcess::Kill() {
  if (HasEnded()) return;
  kill(detached_ ? -pid_ : pid_, SIGKILL);
  Wait();
}

CapturedEnd RunCaptured(const std::vector<std::string>& argv, uint64_t patience_ns,
                        const Interrupt& interrupt,
                        const std::function<bool(std::string_view)>& on_output) {
  using How = CapturedEnd::How;
  ChildProcess child;
  const int error = child.Start({.argv = argv,
                                 .in = ChildStream::kNowhere,
                                 .out = ChildStream::kPiped,
                                 .err = ChildStream::kPiped,
                                 .detached = true});
  if (error != 0) return {How::kNotStarted, error, ""};
  for (ScopedFd* fd : {&child.out(), &child.err()}) fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  std::string err;
  bool refused = false;
  const auto take_out = [&](std::string_view piece) { refused = refused || !on_output(piece); };
  const auto take_err = [&](std::string_view piece) {
    err.append(piece.substr(0, kMaxErrorBytes - std::min(kMaxErrorBytes, err.size())));
  };
  const auto killed = [&](How how) {
    child.Kill();
    return CapturedEnd{how, 0, std::move(err)};
  };
  uint64_t last_ns = MonotonicNs();
  while (true) {
    // Asked first: what it wrote before its end is there to be read. A daemon that it left behind
    // may keep the pipes open.
    const bool ended = child.HasEnded();
    if (interrupt.asked()) return killed(How::kInterrupted);
    const bool wrote = ReadSome(&child.out(), take_out);
    if (ReadSome(&child.err(), take_err) || wrote) {
      if (refused) return killed(How::kRefused);
      last_ns = MonotonicNs();
      continue;
    }
    if (ended) return EndOf(child, std::move(err));
    if (MonotonicNs() - last_ns > patience_ns) return killed(How::kSilent);
    pollfd wait[] = {
        {child.out().get(), POLLIN, 0}, {child.err().get(), POLLIN, 0}, {interrupt.fd, POLLIN, 0}};
    const bool open = child.out().valid() || child.err().valid();
    poll(wait, 3, open ? kPollMs : 1);
  }
}

}  // namespace jankbox

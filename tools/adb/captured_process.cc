#include "tools/adb/captured_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/clock.h"
#include "base/scoped_fd.h"

namespace jankbox::tools {
namespace {

constexpr size_t kMaxErrorBytes = 64 << 10;
constexpr int kPollMs = 50;

struct Pipe {
  ScopedFd reader;
  ScopedFd writer;
};

bool OpenPipe(Pipe* pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  pipe->reader.Reset(ends[0]);
  pipe->writer.Reset(ends[1]);
  return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

class Child {
 public:
  // 0, or the errno of what went wrong.
  int Start(const std::vector<std::string>& argv);
  bool HasEnded();
  void Kill();
  int wait_status() const { return wait_status_; }
  std::array<pollfd, 2> sources() const {
    return {pollfd{out_.reader.get(), POLLIN, 0}, pollfd{err_.reader.get(), POLLIN, 0}};
  }
  bool open() const { return out_.reader.valid() || err_.reader.valid(); }
  // Reads what is available. False if there is nothing.
  bool Drain(std::string* err, const std::function<bool(std::string_view)>& on_output,
             bool* refused);

 private:
  Pipe out_;
  Pipe err_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int wait_status_ = 0;
};

int Child::Start(const std::vector<std::string>& argv) {
  if (!OpenPipe(&out_) || !OpenPipe(&err_)) return errno;
  std::vector<char*> pointers;
  for (const std::string& text : argv) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out_.writer.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err_.writer.get(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t all;
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawnp(&pid_, pointers[0], &files, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  out_.writer.Reset();
  err_.writer.Reset();
  ended_ = error != 0;
  return error;
}

bool Child::HasEnded() {
  if (!ended_ && waitpid(pid_, &wait_status_, WNOHANG) == pid_) ended_ = true;
  return ended_;
}

void Child::Kill() {
  if (HasEnded()) return;
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, &wait_status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
}

bool Child::Drain(std::string* err, const std::function<bool(std::string_view)>& on_output,
                  bool* refused) {
  bool any = false;
  for (Pipe* pipe : {&out_, &err_}) {
    char block[65536];
    const ssize_t n = pipe->reader.valid() ? read(pipe->reader.get(), block, sizeof(block)) : -1;
    if (n == 0) pipe->reader.Reset();
    if (n <= 0) continue;
    any = true;
    const std::string_view piece(block, static_cast<size_t>(n));
    if (pipe == &err_) {
      err->append(piece.substr(0, kMaxErrorBytes - std::min(kMaxErrorBytes, err->size())));
    } else if (!on_output(piece)) {
      *refused = true;
    }
  }
  return any;
}

CapturedEnd EndOf(const Child& child, std::string err) {
  const int status = child.wait_status();
  if (WIFSIGNALED(status)) return {CapturedEnd::How::kKilled, WTERMSIG(status), std::move(err)};
  return {CapturedEnd::How::kExited, WEXITSTATUS(status), std::move(err)};
}

}  // namespace

CapturedEnd RunCaptured(const std::vector<std::string>& argv, uint64_t patience_ns,
                        const Interrupt& interrupt,
                        const std::function<bool(std::string_view)>& on_output) {
  using How = CapturedEnd::How;
  Child child;
  const int error = child.Start(argv);
  if (error != 0) return {How::kNotStarted, error, ""};
  std::string err;
  bool refused = false;
  uint64_t last_ns = MonotonicNs();
  const auto killed = [&](How how) {
    child.Kill();
    return CapturedEnd{how, 0, std::move(err)};
  };
  while (true) {
    // Asked first: what it wrote before its end is there to be read. A daemon that it started
    // may keep the pipes open.
    const bool ended = child.HasEnded();
    if (interrupt.asked()) return killed(How::kInterrupted);
    if (child.Drain(&err, on_output, &refused)) {
      if (refused) return killed(How::kRefused);
      last_ns = MonotonicNs();
      continue;
    }
    if (ended) return EndOf(child, std::move(err));
    if (MonotonicNs() - last_ns > patience_ns) return killed(How::kSilent);
    const auto sources = child.sources();
    pollfd wait[] = {sources[0], sources[1], {interrupt.fd, POLLIN, 0}};
    poll(wait, 3, child.open() ? kPollMs : 1);
  }
}

}  // namespace jankbox::tools

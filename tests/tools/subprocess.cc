#include "tests/tools/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/clock.h"
#include "base/file.h"

namespace jankbox::tools {
namespace {

constexpr uint64_t kPatienceNs = 20 * kNsPerSecond;

std::vector<std::string> CleanEnvironment(const Environment& added) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const bool dropped = name == "NO_COLOR" || name == "COLUMNS" || name == "LD_PRELOAD" ||
                         name.rfind("JANKBOX_", 0) == 0 || added.count(name) > 0;
    if (!dropped) merged.push_back(text);
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

// One read of what is there; false at the end. A terminal says EIO for its end.
bool ReadSome(int fd, std::string* out) {
  char block[65536];
  const ssize_t n = read(fd, block, sizeof(block));
  if (n < 0 && errno == EINTR) return true;
  if (n > 0) out->append(block, static_cast<size_t>(n));
  return n > 0;
}

}  // namespace

int Finished::exit_status() const { return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1; }
int Finished::signal() const { return WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0; }

Subprocess::Subprocess(const std::vector<std::string>& argv, const Environment& added,
                       bool terminal)
    : terminal_(terminal) {
  const std::vector<std::string> environment = CleanEnvironment(added);
  const std::vector<char*> argv_pointers = Pointers(argv);
  const std::vector<char*> environment_pointers = Pointers(environment);
  int in[2] = {-1, -1};
  int out[2] = {-1, -1};
  int err[2] = {-1, -1};
  int master = -1;
  if (terminal) {
    winsize size{};
    size.ws_row = 24;
    size.ws_col = 100;
    pid_ = forkpty(&master, nullptr, nullptr, &size);
  } else {
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
      abort();
    }
    pid_ = fork();
  }
  if (pid_ < 0) abort();
  if (pid_ == 0) {
    if (!terminal) {
      dup2(in[0], 0);
      dup2(out[1], 1);
      dup2(err[1], 2);
    }
    execvpe(argv_pointers[0], argv_pointers.data(), environment_pointers.data());
    _exit(99);
  }
  if (terminal) {
    out_.Reset(master);
    return;
  }
  close(in[0]);
  close(out[1]);
  close(err[1]);
  in_.Reset(in[1]);
  out_.Reset(out[0]);
  err_.Reset(err[0]);
}

Subprocess::~Subprocess() {
  if (waited_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Subprocess::Write(const std::string& input) {
  (void)!WriteFully(terminal_ ? out_.get() : in_.get(), input).ok();
}

bool Subprocess::ReadUntil(int fd, std::string* read, const std::string& text) {
  const uint64_t end = MonotonicNs() + kPatienceNs;
  while (read->find(text) == std::string::npos) {
    pollfd ready{fd, POLLIN, 0};
    if (MonotonicNs() > end) return false;
    if (poll(&ready, 1, 100) == 1 && !ReadSome(fd, read)) return false;
  }
  return true;
}

bool Subprocess::WaitForOutput(const std::string& text) {
  return ReadUntil(out_.get(), &finished_.out, text);
}

bool Subprocess::WaitForErrorOutput(const std::string& text) {
  return ReadUntil(err_.get(), &finished_.err, text);
}

bool Subprocess::WaitForEnd(int timeout_ms) {
  const uint64_t end = MonotonicNs() + static_cast<uint64_t>(timeout_ms) * kNsPerMs;
  while (!waited_) {
    waited_ = waitpid(pid_, &finished_.wait_status, WNOHANG) == pid_;
    if (!waited_ && MonotonicNs() > end) return false;
    if (!waited_) usleep(5000);
  }
  return true;
}

Finished Subprocess::Finish() {
  in_.Reset();
  bool out_open = true;
  bool err_open = err_.valid();
  while (out_open || err_open) {
    pollfd ready[] = {{out_open ? out_.get() : -1, POLLIN, 0},
                      {err_open ? err_.get() : -1, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) continue;
    if (ready[0].revents != 0) out_open = ReadSome(out_.get(), &finished_.out);
    if (ready[1].revents != 0) err_open = ReadSome(err_.get(), &finished_.err);
  }
  if (!waited_) waitpid(pid_, &finished_.wait_status, 0);
  waited_ = true;
  return finished_;
}

Finished RunToEnd(const std::vector<std::string>& argv, const Environment& added,
                  const std::string& input) {
  Subprocess process(argv, added);
  process.Write(input);
  return process.Finish();
}

Finished RunOnTerminal(const std::vector<std::string>& argv, const Environment& added) {
  return Subprocess(argv, added, /*terminal=*/true).Finish();
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "jankbox-tools-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) abort();
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string FileBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace jankbox::tools
